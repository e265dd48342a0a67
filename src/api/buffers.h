#pragma once

#include <memory>
#include <vector>

#include "api/state.h"
#include "plan/plan.h"

namespace distal {

// The offsets of the first and the last element that strides lead to, from where a buffer begins.
struct BufferReach {
  int64_t first = 0, last = 0;
  int64_t elements() const { return last - first + 1; }
};
BufferReach reach_of(const core::Coordinates& extents, const core::Coordinates& strides);

// Refuses a buffer that is too small for a piece of these extents, or strides that put two elements at one address.
void require_room(const std::string& tensor, const TensorState::Bound& buffer, const core::Coordinates& extents,
                  const core::Coordinates& strides);

// Refuses a piece in a caller's buffer if a plan writes it and it certainly shares an element with another piece of
// this process: the write would change an operand. Pieces whose elements alternate in memory are allowed, and so are
// inputs in the same memory.
class ApartCheck {
 public:
  // All tensors must have their pieces. Called at every run; checks again only if the memory of a piece has changed.
  void require(const core::Plan& plan, const std::vector<std::shared_ptr<TensorState>>& tensors);

 private:
  std::vector<int64_t> versions_;  // of the pieces that are fine
};

}  // namespace distal
