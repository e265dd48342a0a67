#include "store/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "store/huge_pages.h"
#include "support/available_memory.h"
#include "support/checked.h"

namespace distal::core {

namespace {

int64_t in_huge_pages(int64_t bytes) { return ceil_div(bytes, kHugePage) * kHugePage; }

// The device and inode number, which identify a file; 0 if fstat fails.
uint64_t id_of(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 ? static_cast<uint64_t>(status.st_dev) << 32 ^ status.st_ino : 0;
}

// Reserves memory for `bytes` bytes of the file from `at` on. Returns false if the system has too little. Repeats the
// system call if a signal interrupts it, such as that of an application's timer.
bool allocate(int file, int64_t at, int64_t bytes) {
  int error = 0;
  do {
    error = posix_fallocate(file, at, bytes);
  } while (error == EINTR);
  return error == 0;
}

}  // namespace

SharedMemory::SharedMemory(std::string name, int file, int64_t bytes)
    : name_(std::move(name)), file_(file), bytes_(bytes), id_(id_of(file)) {}

std::unique_ptr<SharedMemory> SharedMemory::make(int64_t bytes) {
  bytes = std::max<int64_t>(bytes, 1);
  if (bytes > available_memory()) return nullptr;  // the system would kill processes instead of refusing
  int file = memfd_create("distal", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  std::unique_ptr<SharedMemory> made(new SharedMemory(fmt::format("/proc/{}/fd/{}", getpid(), file), file, bytes));
  bool ok = ftruncate(file, in_huge_pages(bytes)) == 0 && made->map() && made->reserve();
  return ok ? std::move(made) : nullptr;
}

std::unique_ptr<SharedMemory> SharedMemory::open(const std::string& name, int64_t bytes, uint64_t id) {
  int file = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  std::unique_ptr<SharedMemory> opened(new SharedMemory(name, file, bytes));
  if (opened->id() != id || !opened->map()) return nullptr;
  opened->close_file();  // the mapping stays, and the number of open files is limited
  return opened;
}

SharedMemory::~SharedMemory() {
  if (data_) munmap(data_, static_cast<size_t>(in_huge_pages(bytes_)));
  close_file();
}

void SharedMemory::close_file() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

// Maps the memory at a multiple of kHugePage, which huge pages need: reserves a larger address range first.
bool SharedMemory::map() {
  auto size = static_cast<size_t>(in_huge_pages(bytes_));
  void* range = mmap(nullptr, size + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return false;
  auto* begin = static_cast<std::byte*>(range);
  size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  void* mapped = mmap(begin + before, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, 0);
  if (before > 0) munmap(begin, before);
  munmap(begin + before + size, kHugePage - before);
  if (mapped == MAP_FAILED) {
    munmap(begin + before, size);
    return false;
  }
  data_ = static_cast<std::byte*>(mapped);
  return true;
}

// Reserves all memory now. Otherwise the system kills a process that writes when no memory is left. The system can
// collapse a range to a huge page if at least one small page of the range is reserved. On a system that refuses, all
// pages stay small.
bool SharedMemory::reserve() {
  for (int64_t at = 0; at + kHugePage <= bytes_; at += kHugePage) {
    if (!allocate(file_, at, 1)) return false;
    collapse_to_huge_pages(data_ + at, kHugePage);
  }
  return allocate(file_, 0, bytes_);
}

}  // namespace distal::core
