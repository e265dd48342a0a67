#include "data/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace distal::core {

namespace {

constexpr int64_t kBytesPerCall = 1 << 30;  // Linux transfers at most 2 GiB at once

// Calls transfer(done, bytes), which returns how many of the bytes it transferred, until all are.
template <class Transfer>
bool transfer_all(int64_t bytes, const Transfer& transfer) {
  for (int64_t done = 0; done < bytes;) {
    ssize_t now = transfer(done, static_cast<size_t>(std::min(bytes - done, kBytesPerCall)));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return false;
    done += now;
  }
  return true;
}

}  // namespace

int64_t File::size() const {
  struct stat s {};
  return fstat(descriptor_, &s) == 0 ? s.st_size : -1;
}

bool File::set_size(int64_t bytes) const { return ftruncate(descriptor_, bytes) == 0; }

bool File::close() {
  int descriptor = std::exchange(descriptor_, -1);
  return descriptor < 0 || ::close(descriptor) == 0;
}

bool File::read(int64_t offset, void* to, int64_t bytes) const {
  return transfer_all(bytes, [&](int64_t done, size_t count) {
    return pread(descriptor_, static_cast<char*>(to) + done, count, offset + done);
  });
}

bool File::write(int64_t offset, const void* from, int64_t bytes) const {
  return transfer_all(bytes, [&](int64_t done, size_t count) {
    return pwrite(descriptor_, static_cast<const char*>(from) + done, count, offset + done);
  });
}

}  // namespace distal::core
