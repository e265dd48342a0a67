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

// Refuses a buffer that a piece of these extents would leave, or in which two of its elements would be one.
void require_room(const std::string& tensor, const TensorState::Bound& buffer, const core::Coordinates& extents,
                  const core::Coordinates& strides);

// Refuses a piece in a caller's buffer if a plan writes it and it surely has an element in common with another piece of
// this process: the write would change what is read. Pieces that lie between each other's elements are fine, as are
// inputs in the same memory.
class ApartCheck {
 public:
  // All tensors have their pieces. Called at every run, so it looks again only if a piece came to lie elsewhere.
  void require(const core::Plan& plan, const std::vector<std::shared_ptr<TensorState>>& tensors);

 private:
  std::vector<int64_t> versions_;  // of the pieces that are fine
};

}  // namespace distal
