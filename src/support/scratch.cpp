#include "support/scratch.h"

#include <cstdlib>
#include <memory>
#include <new>

namespace distal::core {

namespace {

constexpr size_t kAlignment = 64;

struct Free {
  void operator()(void* p) const { std::free(p); }
};

}  // namespace

std::byte* scratch(size_t bytes) {
  thread_local std::unique_ptr<void, Free> memory;
  thread_local size_t capacity = 0;
  if (bytes > capacity) {
    memory.reset();
    capacity = 0;
    size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    memory.reset(std::aligned_alloc(kAlignment, rounded));
    if (!memory) throw std::bad_alloc();
    capacity = rounded;
  }
  return static_cast<std::byte*>(memory.get());
}

}  // namespace distal::core
