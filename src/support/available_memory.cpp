#include "support/available_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace distal::core {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

// The number behind a word at the start of a line.
std::optional<int64_t> number_behind(const fs::path& file, const std::string& word) {
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

int64_t left_on_machine(const fs::path& root) {
  std::optional<int64_t> kib = number_behind(root / "proc/meminfo", "MemAvailable:");
  return kib ? *kib * 1024 : kUnlimited;
}

// Where a version of control groups has its folders, and how it calls things there.
struct Groups {
  std::string controllers;  // in the line of /proc/self/cgroup
  fs::path folder, limit, usage;
  std::string files[2];  // pages that make room when they have to
};

const Groups kGroups[] = {
    {"", "sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}},
    {"memory",
     "sys/fs/cgroup/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file"}},
};

// A group without a limit has no number there.
int64_t left_in(const fs::path& group, const Groups& names) {
  std::optional<int64_t> limit = number_in(group / names.limit);
  std::optional<int64_t> usage = number_in(group / names.usage);
  if (!limit || !usage) return kUnlimited;
  int64_t used = *usage;
  for (const std::string& pages : names.files) used -= number_behind(group / "memory.stat", pages).value_or(0);
  return std::max<int64_t>(0, *limit - std::max<int64_t>(0, used));
}

// Every group around this one may have a limit too.
int64_t left_in_all(const fs::path& root, const Groups& names, fs::path group) {
  int64_t left = kUnlimited;
  for (; !group.empty(); group = group.parent_path())
    left = std::min(left, left_in(root / names.folder / group, names));
  return std::min(left, left_in(root / names.folder, names));
}

int64_t left_of_job(const fs::path& root) {
  int64_t left = kUnlimited;
  std::ifstream in(root / "proc/self/cgroup");
  // A line is number:controllers:path.
  for (std::string line; std::getline(in, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    fs::path path = fs::path(line.substr(second + 1)).relative_path();
    for (const Groups& names : kGroups) {
      if (controllers == names.controllers) left = std::min(left, left_in_all(root, names, path));
    }
  }
  return left;
}

}  // namespace

int64_t available_memory(const fs::path& root) { return std::min(left_on_machine(root), left_of_job(root)); }

int64_t resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace distal::core
