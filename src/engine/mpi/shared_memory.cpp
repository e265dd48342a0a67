#include "engine/mpi/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "store/allocator.h"
#include "support/checked.h"

namespace distal::core {

namespace {

constexpr int kCollapse = 25;  // MADV_COLLAPSE, which not every C library's headers have yet

int64_t in_huge_pages(int64_t bytes) { return ceil_div(bytes, kHugePage) * kHugePage; }

}  // namespace

std::unique_ptr<SharedMemory> SharedMemory::make(int64_t bytes) {
  static int count = 0;
  std::string name;
  int file = -1;
  do {
    name = fmt::format("/distal-{}-{}", getpid(), count++);
    file = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) return nullptr;
  std::unique_ptr<SharedMemory> made(new SharedMemory(name, file, bytes));
  if (ftruncate(file, in_huge_pages(bytes)) == 0 && made->map()) return made;
  made->hide();
  return nullptr;
}

std::unique_ptr<SharedMemory> SharedMemory::open(const std::string& name, int64_t bytes) {
  int file = shm_open(name.c_str(), O_RDWR, 0600);
  if (file < 0) return nullptr;
  std::unique_ptr<SharedMemory> opened(new SharedMemory(name, file, bytes));
  return opened->map() ? std::move(opened) : nullptr;
}

SharedMemory::~SharedMemory() {
  if (data_) munmap(data_, static_cast<size_t>(in_huge_pages(bytes_)));
  close(file_);
}

void SharedMemory::hide() { shm_unlink(name_.c_str()); }

// Huge pages need an address that is a multiple of their size.
bool SharedMemory::map() {
  auto size = static_cast<size_t>(in_huge_pages(bytes_));
  void* room = mmap(nullptr, size + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  auto* begin = static_cast<std::byte*>(room);
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

// The system makes a huge page of what has one small page at least. Where it does not, they are all small.
bool SharedMemory::take() {
  for (int64_t at = 0; at + kHugePage <= bytes_; at += kHugePage) {
    if (posix_fallocate(file_, at, 1) != 0) return false;
    madvise(data_ + at, kHugePage, kCollapse);
  }
  return posix_fallocate(file_, 0, bytes_) == 0;
}

}  // namespace distal::core
