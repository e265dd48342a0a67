#pragma once

#include <vector>

#include "engine/arena.h"
#include "engine/task_graph.h"
#include "plan/memory.h"
#include "store/view.h"

namespace distal::core {

// One acquired copy: its memory, what it holds now, and who uses it.
struct Slot {
  std::byte* memory = nullptr;
  std::vector<Rect> rects;
  std::vector<Region> regions;    // which of them are whose, by access
  std::vector<View> views;        // one a rectangle
  std::vector<int64_t> in_place;  // the processor in whose piece the view lies, or -1: this slot's own memory
  Resource resource;
  bool is_blank = false;  // of the output, in memory of its own: not even zeros have been written
};

// The copies of one acquire at one place: one slot, or two that are used in turn.
class PlaceBuffers {
 public:
  PlaceBuffers(const BufferNeed& need, Arena& arena)
      : need_(need), arena_(arena), slots_(static_cast<size_t>(need.depth)) {}
  PlaceBuffers(const PlaceBuffers&) = delete;
  PlaceBuffers& operator=(const PlaceBuffers&) = delete;

  Slot& current() { return slots_[current_]; }
  // The slot that the next fetch fills.
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
