#include "store/allocator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "support/error.h"

namespace distal::core {

void FreeBlock::operator()(std::byte* data) const { std::free(data); }

Block Allocator::allocate(int64_t processor, int64_t bytes, int64_t padding) {
  auto size = static_cast<size_t>(aligned(std::max<int64_t>(bytes + padding, 1)));
  auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
  if (!data) {
    throw Error(fmt::format("no memory for {} bytes of processor {}", bytes, processor), {}, {},
                Error::Kind::Resources);
  }
  std::lock_guard lock(mutex_);
  current_[processor] += bytes;
  peak_[processor] = std::max(peak_[processor], current_[processor]);
  return Block(data);
}

void Allocator::released(int64_t processor, int64_t bytes) {
  std::lock_guard lock(mutex_);
  current_[processor] -= bytes;
}

int64_t Allocator::peak_per_processor() const {
  std::lock_guard lock(mutex_);
  return *std::max_element(peak_.begin(), peak_.end());
}

}  // namespace distal::core
