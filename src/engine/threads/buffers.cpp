#include "engine/threads/buffers.h"

namespace distal::core {

PlaceBuffers::PlaceBuffers(const BufferNeed& need, int64_t place, Allocator& allocator)
    : need_(need), place_(place), allocator_(allocator), slots_(static_cast<size_t>(need.depth)) {}

PlaceBuffers::~PlaceBuffers() {
  if (block_) allocator_.released(place_, need_.bytes * need_.depth);
}

Slot& PlaceBuffers::advance() {
  current_ = (current_ + 1) % slots_.size();
  return slots_[current_];
}

std::byte* PlaceBuffers::memory_of(Slot& slot) {
  if (!block_) block_ = allocator_.allocate(place_, need_.bytes * need_.depth);
  return block_.get() + need_.bytes * (&slot - slots_.data());
}

}  // namespace distal::core
