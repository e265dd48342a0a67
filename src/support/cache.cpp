#include "support/cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <atomic>
#include <fstream>

#include "support/environment.h"
#include "support/error.h"
#include "support/unfinished_file.h"

namespace distal::core {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& message, const std::string& help = {}) {
  throw Error(message, {}, help, Error::Kind::Resources);
}

}  // namespace

std::string cache_folder() {
  if (std::string chosen = environment("DISTAL_CACHE"); !chosen.empty()) return chosen;
  if (std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) return cache + "/distal";
  if (std::string home = environment("HOME"); !home.empty()) return home + "/.cache/distal";
  return fmt::format("{}/distal-{}", fs::temp_directory_path().string(), geteuid());
}

fs::path safe_cache_folder() {
  fs::path folder = cache_folder();
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  mkdir(folder.c_str(), 0700);
  struct stat s {};
  if (lstat(folder.c_str(), &s) != 0 || !S_ISDIR(s.st_mode)) {
    fail(fmt::format("cannot make the cache folder {}", folder.string()),
         "set DISTAL_CACHE to a folder that can be written");
  }
  if (s.st_uid != geteuid() || (s.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    fail(fmt::format("the cache folder {} can be written by others", folder.string()),
         "code is loaded from there; set DISTAL_CACHE to a folder of your own, or chmod 700 it");
  }
  return folder;
}

std::string read_text(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path unique_name(const fs::path& final) {
  static std::atomic<int> counter{0};
  return fs::path(fmt::format("{}.{}.{}.tmp", final.string(), getpid(), counter++));
}

void write_atomically(const fs::path& path, const std::string& text) {
  fs::path temporary = unique_name(path);
  UnfinishedFile unfinished(temporary.string());
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  std::error_code error;
  if (out) fs::rename(temporary, path, error);
  if (!out || error) {
    fs::remove(temporary, error);
    fail(fmt::format("cannot write {}", path.string()));
  }
}

std::string name_by_content(const std::string& prefix, const std::string& content) {
  XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  return fmt::format("{}-{:016x}{:016x}", prefix, hash.high64, hash.low64);
}

std::string file_fingerprint(const std::string& file) {
  struct stat s {};
  stat(file.c_str(), &s);
  return fmt::format("{} {} {}", file, s.st_size, s.st_mtime);
}

std::string cpu_fingerprint() {
  std::string out;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0 || line.rfind("flags", 0) == 0) out += line;
    if (line.empty()) break;
  }
  return out;
}

}  // namespace distal::core
