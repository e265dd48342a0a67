#include "support/available_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace distal::core {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

// The number after `word`, in the first line that begins with `word`; nothing if there is no such line.
std::optional<int64_t> number_after(const fs::path& file, const std::string& word) {
  std::ifstream in(file);
  for (std::string key; in >> key; in.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    int64_t value = 0;
    if (key == word && in >> value) return value;
  }
  return std::nullopt;
}

std::optional<int64_t> number_in(const fs::path& file) {
  int64_t value = 0;
  std::ifstream in(file);
  return in >> value ? std::optional(value) : std::nullopt;
}

int64_t available_on_machine(const fs::path& root) {
  std::optional<int64_t> kib = number_after(root / "proc/meminfo", "MemAvailable:");
  return kib ? *kib * 1024 : kUnlimited;
}

// The file names of one version of Linux control groups.
struct CgroupVersion {
  std::string controllers;  // in the line of /proc/self/cgroup
  fs::path folder, limit, usage;
  std::string file_pages[2];  // keys in memory.stat: the page cache, which the kernel can free
};

const CgroupVersion kCgroupVersions[] = {
    {"", "sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}},
    {"memory",
     "sys/fs/cgroup/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file"}},
};

// Unlimited for a group without a limit: its file has a word in place of the number.
int64_t available_in(const fs::path& group, const CgroupVersion& names) {
  std::optional<int64_t> limit = number_in(group / names.limit);
  std::optional<int64_t> usage = number_in(group / names.usage);
  if (!limit || !usage) return kUnlimited;
  int64_t used = *usage;
  for (const std::string& pages : names.file_pages) used -= number_after(group / "memory.stat", pages).value_or(0);
  return std::max<int64_t>(0, *limit - std::max<int64_t>(0, used));
}

// Parent groups may have limits too.
int64_t available_in_parents(const fs::path& root, const CgroupVersion& names, fs::path group) {
  int64_t least = kUnlimited;
  for (; !group.empty(); group = group.parent_path()) {
    least = std::min(least, available_in(root / names.folder / group, names));
  }
  return std::min(least, available_in(root / names.folder, names));
}

int64_t available_in_cgroups(const fs::path& root) {
  int64_t least = kUnlimited;
  std::ifstream in(root / "proc/self/cgroup");
  // A line is number:controllers:path.
  for (std::string line; std::getline(in, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    fs::path path = fs::path(line.substr(second + 1)).relative_path();
    for (const CgroupVersion& names : kCgroupVersions) {
      if (controllers == names.controllers) least = std::min(least, available_in_parents(root, names, path));
    }
  }
  return least;
}

}  // namespace

int64_t available_memory(const fs::path& root) {
  return std::min(available_on_machine(root), available_in_cgroups(root));
}

int64_t resident_bytes() {
  using std::chrono::steady_clock;
  static std::atomic<int64_t> last{0};
  static std::atomic<steady_clock::time_point> due{steady_clock::time_point::min()};
  steady_clock::time_point now = steady_clock::now();
  if (now < due.load(std::memory_order_acquire)) return last.load(std::memory_order_relaxed);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  last.store(static_cast<int64_t>(usage.ru_maxrss) * 1024, std::memory_order_relaxed);
  due.store(now + std::chrono::milliseconds(1), std::memory_order_release);
  return last.load(std::memory_order_relaxed);
}

}  // namespace distal::core
