#pragma once

#include <vector>

#include "engine/arena.h"
#include "engine/task_graph.h"
#include "plan/memory.h"
#include "store/view.h"

namespace distal::core {

// What one acquire holds at one place: its rectangles, where each of them lies, and the tasks that use them. A
// rectangle lies in the slot's own memory or in a piece that is used in place.
struct Slot {
  std::byte* memory = nullptr;
  std::vector<Rect> rects;
  std::vector<AccessRects> access_rects;  // by access: its part of `rects`
  std::vector<View> views;                // by rectangle
  std::vector<int64_t> in_place;          // by rectangle: the processor whose piece holds it; -1: the slot's own memory
  Resource resource;
  bool is_blank = false;  // an output copy in the slot's own memory that nothing has been written to, not even zeros
};

// The slots of one acquire at one place, used in turn. Their number is BufferNeed::depth: one if a copy ends with its
// step, two if it outlives its step, more if later steps are fetched in advance.
class SlotRing {
 public:
  SlotRing(const BufferNeed& need, Arena& arena)
      : need_(need), arena_(arena), slots_(static_cast<size_t>(need.depth)) {}
  SlotRing(const SlotRing&) = delete;
  SlotRing& operator=(const SlotRing&) = delete;

  Slot& current() { return slots_[current_]; }
  // Moves on to the slot that the next fetch fills.
  Slot& advance();
  std::byte* memory_of(Slot& slot);

 private:
  BufferNeed need_;
  Arena& arena_;
  std::byte* block_ = nullptr;
  std::vector<Slot> slots_;
  size_t current_ = 0;
};

}  // namespace distal::core
