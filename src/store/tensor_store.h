#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "store/allocator.h"
#include "store/view.h"

namespace distal {

// The home pieces of all tensors of a plan, on all processors of this process.
class TensorStore {
 public:
  TensorStore(const Plan& plan, Allocator& allocator);

  ElementType type() const { return type_; }
  // The part of a processor's piece that holds `rect`; the rectangle lies in one run of every dimension.
  View view(int tensor, int64_t processor, const Rect& rect) const;
  void clear(int tensor, int64_t processor);  // to zero
  bool has_piece(int tensor, int64_t processor) const { return pieces_[tensor][processor].block != nullptr; }

  // One element in one processor's piece; the processor owns it.
  std::byte* element(int tensor, int64_t processor, const Coordinates& at) const;

  // Sets every element, in every replica, row by row. `row` writes `count` elements into the given memory, `stride`
  // elements apart: those from coordinates `at` on along the last dimension.
  using FillRow = std::function<void(std::span<const int64_t> at, int64_t count, std::byte* memory, int64_t stride)>;
  void fill(int tensor, const FillRow& row);
  // The same element by element: `value` writes the element of the given coordinates.
  using FillElement = std::function<void(std::span<const int64_t> at, void* element)>;
  void fill(int tensor, const FillElement& value);
  // Where two replicas of an element differ: its coordinates as text, or empty if all agree.
  std::string differing_replica(int tensor) const;
  // The whole tensor in row-major order, taken from the first replica.
  std::vector<std::byte> gather(int tensor) const;

 private:
  struct Piece {
    Block block;
    HomePiece home;
    Coordinates strides;
    int64_t bytes = 0;
  };
  int64_t local_offset(const Piece& piece, const Coordinates& at) const;

  const Plan& plan_;
  ElementType type_;
  std::vector<std::vector<Piece>> pieces_;  // [tensor][processor]
};

}  // namespace distal
