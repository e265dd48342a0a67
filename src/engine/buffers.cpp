#include "engine/buffers.h"

namespace distal::core {

Slot& SlotRing::advance() {
  current_ = (current_ + 1) % slots_.size();
  return slots_[current_];
}

std::byte* SlotRing::memory_of(Slot& slot) {
  if (!block_) block_ = arena_.take(need_.bytes * need_.depth);
  return block_ + need_.bytes * (&slot - slots_.data());
}

}  // namespace distal::core
