#include "leaf/compile.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "support/error.h"

extern char** environ;

namespace distal::core {

namespace fs = std::filesystem;

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0 ? program : "";
  std::stringstream path(environment("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    std::string candidate = fmt::format("{}/{}", folder, program);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

[[noreturn]] void fail(const std::string& message, const std::string& help = {}) {
  throw Error(message, {}, help, Error::Kind::Resources);
}

std::string read_text(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return "";
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What the machine code depends on beside the text: the compiler as a file, and the kind of processor, since a home
// folder may be shared between machines.
std::string fingerprint(const std::string& compiler) {
  struct stat s {};
  stat(compiler.c_str(), &s);
  std::string cpu;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0 || line.rfind("flags", 0) == 0) cpu += line;
    if (line.empty()) break;
  }
  return fmt::format("{} {} {} {}", compiler, s.st_size, s.st_mtime, cpu);
}

// Made by us for us alone: code is loaded from here.
fs::path safe_folder() {
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

int run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawn(&pid, command[0].c_str(), nullptr, nullptr, arguments.data(), environ) != 0) return -1;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Written under a name of its own, then renamed: whoever looks sees the whole file or none.
fs::path unique_name(const fs::path& final) {
  static std::atomic<int> counter{0};
  return fs::path(fmt::format("{}.{}.{}.tmp", final.string(), getpid(), counter++));
}

void write_atomically(const fs::path& path, const std::string& text) {
  fs::path temporary = unique_name(path);
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

// Not -ffast-math: what is not a number stays so, and the program's own floating point mode is left alone.
std::vector<std::string> flags(CompileOptions options) {
  std::vector<std::string> out{"-std=c++17", "-O3", "-march=native", "-shared", "-fPIC", "-w"};
  out.emplace_back(options.openmp ? "-fopenmp" : "-fopenmp-simd");
  if (options.reassociate) {
    for (const char* flag : {"-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno",
                             "-ffp-contract=fast", "-fcx-limited-range", "-mprefer-vector-width=512"}) {
      out.emplace_back(flag);
    }
  }
  return out;
}

void compile(const std::string& compiler, const std::string& source, CompileOptions options, const fs::path& text,
             const fs::path& library) {
  fs::path input = unique_name(text);
  input += ".cpp";
  std::ofstream(input, std::ios::binary) << source;
  fs::path output = unique_name(library);
  std::vector<std::string> command = flags(options);
  command.insert(command.begin(), compiler);
  command.insert(command.end(), {"-o", output.string(), input.string()});
  int status = run(command);
  std::error_code error;
  fs::remove(input, error);
  if (status != 0) {
    fs::remove(output, error);
    fail(fmt::format("{} could not compile a leaf (status {})", compiler, status),
         "run with --leaf interpreted to go without a compiler");
  }
  write_atomically(text, source);
  fs::rename(output, library, error);
  if (error) fail(fmt::format("cannot write {}", library.string()));
}

// A leaf with threads of OpenMP's stays loaded for good: its runtime would go with it while its threads still live.
CompiledLeaf load(const fs::path& library, bool openmp, bool from_cache) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | (openmp ? RTLD_NODELETE : 0));
  if (!handle) return {};
  void* symbol = dlsym(handle, "leaf");
  std::shared_ptr<void> owner(handle, [](void* h) { dlclose(h); });
  if (!symbol) return {};
  return {symbol, std::move(owner), from_cache};
}

}  // namespace

std::string leaf_compiler() {
  std::string chosen = environment("DISTAL_CXX");
  if (!chosen.empty()) return on_path(chosen);
  for (const char* name : {"c++", "g++", "clang++"}) {
    std::string found = on_path(name);
    if (!found.empty()) return found;
  }
  return "";
}

std::string cache_folder() {
  if (std::string chosen = environment("DISTAL_CACHE"); !chosen.empty()) return chosen;
  if (std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) return cache + "/distal";
  if (std::string home = environment("HOME"); !home.empty()) return home + "/.cache/distal";
  return fmt::format("{}/distal-{}", fs::temp_directory_path().string(), geteuid());
}

CompiledLeaf compile_leaf(const std::string& source, CompileOptions options) {
  std::string compiler = leaf_compiler();
  if (compiler.empty())
    fail("no C++ compiler was found to compile a leaf with", "install g++, or run with --leaf interpreted");
  fs::path folder = safe_folder();
  std::string key = fmt::format("{}\n// {} {}", source, fmt::join(flags(options), " "), fingerprint(compiler));
  XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  std::string name = fmt::format("leaf-{:016x}{:016x}", hash.high64, hash.low64);
  fs::path library = folder / (name + ".so");
  fs::path text = folder / (name + ".cpp");
  if (fs::exists(library) && read_text(text) == source) {
    CompiledLeaf found = load(library, options.openmp, true);
    if (found.symbol) return found;
  }
  compile(compiler, source, options, text, library);
  CompiledLeaf made = load(library, options.openmp, false);
  if (!made.symbol) fail(fmt::format("cannot load {}: {}", library.string(), dlerror()));
  return made;
}

}  // namespace distal::core
