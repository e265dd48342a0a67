#include "support/unfinished_file.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace distal::core {

namespace {

// A signal handler may interrupt anything, so the names are in atomics, and not behind a lock. If more files are
// unfinished at once, the further ones are not remembered.
std::array<std::atomic<char*>, 64> unfinished;

}  // namespace

UnfinishedFile::UnfinishedFile(const std::string& path) : path_(strdup(path.c_str())) {
  for (std::atomic<char*>& slot : unfinished) {
    char* none = nullptr;
    if (slot.compare_exchange_strong(none, path_)) return;
  }
}

UnfinishedFile& UnfinishedFile::operator=(UnfinishedFile&& other) noexcept {
  if (this == &other) return *this;
  finish();
  path_ = std::exchange(other.path_, nullptr);
  return *this;
}

void UnfinishedFile::finish() noexcept {
  if (!path_) return;
  for (std::atomic<char*>& slot : unfinished) {
    char* mine = path_;
    if (slot.compare_exchange_strong(mine, nullptr)) break;
  }
  std::free(std::exchange(path_, nullptr));
}

void remove_unfinished_files() noexcept {
  for (std::atomic<char*>& slot : unfinished) {
    if (const char* path = slot.load()) unlink(path);
  }
}

}  // namespace distal::core
