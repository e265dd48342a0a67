#include "engine/threads/arena.h"

#include <algorithm>

#include "support/error.h"

namespace distal::core {

bool Arena::reserve(int64_t bytes, int64_t parts) {
  int64_t gaps = parts * kAlignment;
  if (bytes <= counted_ && bytes + gaps <= capacity_) return false;
  // Never less than a stage before asked for, so that two stages do not move it to and fro.
  int64_t count = std::max(bytes, counted_);
  int64_t capacity = std::max(bytes + gaps, capacity_);
  give_back();
  block_ = allocator_.allocate(processor_, count, capacity - count);
  counted_ = count;
  capacity_ = capacity;
  return true;
}

std::byte* Arena::take(int64_t bytes) {
  int64_t at = used_;
  used_ += aligned(bytes);
  if (used_ > capacity_) throw InternalError("a stage takes more memory than was counted for it");
  return block_.get() + at;
}

void Arena::give_back() {
  if (!block_) return;
  block_ = nullptr;
  allocator_.released(processor_, counted_);
  counted_ = 0;
  capacity_ = 0;
}

}  // namespace distal::core
