#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lang/element_type.h"
#include "plan/ownership.h"
#include "store/allocator.h"
#include "store/view.h"

namespace distal::core {

// Operands that are read side by side at a distance of a high power of two are in each other's way, as a CPU may find
// lines of its first cache by a hash of their address that is the same for both. The sizes of large pieces are such
// powers as a rule, so there is room between them; it is none itself, so that hardly any two of several are so far
// apart.
constexpr int64_t kRoomAfterLarge = 3072;

// Where the pieces of some processors lie, one after the other, in one block of memory.
struct PieceOffsets {
  std::vector<int64_t> of;  // by processor; -1 for one that has none there
  int64_t end = 0;
};
PieceOffsets piece_offsets(const Ownership& owners, ElementType type, const std::function<bool(int64_t)>& is_wanted,
                           int64_t begin = 0);

// The home pieces of one tensor on all processors of this process: in memory of ours, or in buffers of the caller's,
// which are used where they lie.
class TensorPieces {
 public:
  TensorPieces(Ownership owners, ElementType type, std::vector<int> order);

  const Ownership& owners() const { return owners_; }
  ElementType type() const { return type_; }
  const std::vector<int>& order() const { return order_; }

  // Takes memory for every piece that has none yet.
  void allocate(
      Allocator& allocator, const std::function<bool(int64_t)>& is_wanted = [](int64_t) { return true; });
  // The same for some of the processors, and at zero.
  void allocate_cleared(Allocator& allocator, const std::function<bool(int64_t)>& is_wanted);
  // Uses the caller's memory for a processor's piece: its first element, and the step of every dimension in elements.
  void bind(int64_t processor, std::byte* data, const Coordinates& strides);
  // Forgets a piece, and gives its memory back.
  void drop(int64_t processor);
  // Knows where a dense piece lies; if it is another process's, it can be looked at here but is filled over there.
  void place(int64_t processor, std::byte* data, bool is_ours);
  // The same for all that have an offset in some memory.
  void place(const PieceOffsets& offsets, std::byte* memory, bool is_ours);

  // Another number whenever a piece came to lie elsewhere; no two tensors have the same.
  int64_t version() const { return version_; }
  bool has_piece(int64_t processor) const;
  int64_t bytes_here(int64_t processor) const;  // of a piece of this process; 0 if it has none
  std::byte* data(int64_t processor) const { return pieces_[processor].data; }
  const Coordinates& strides(int64_t processor) const { return pieces_[processor].strides; }
  // The part of a processor's piece that holds `rect`; the rectangle lies in one run of every dimension.
  View view(int64_t processor, const Rect& rect) const;
  void clear(int64_t processor);  // to zero
  // One element in one processor's piece; the processor owns it.
  std::byte* element(int64_t processor, const Coordinates& at) const;

  // Sets every element of this process, in every replica, row by row. `row` writes `count` elements into the given
  // memory, `stride` elements apart: those from coordinates `at` on along the last dimension.
  using FillRow = std::function<void(std::span<const int64_t> at, int64_t count, std::byte* memory, int64_t stride)>;
  void fill(const FillRow& row);
  // Where two replicas of an element in this process differ: its coordinates as text, or empty if all agree.
  std::string differing_replica() const;
  // The whole tensor in row-major order, taken from the first replica.
  std::vector<std::byte> gather() const;
  // The same of a part of it; what the processors that are not wanted have stays zero.
  std::vector<std::byte> gather(const Rect& rect, const std::function<bool(int64_t)>& is_wanted) const;

 private:
  struct Piece {
    std::byte* data = nullptr;
    Block block;  // empty if the memory is the caller's
    bool is_ours = true;
    HomePiece home;
    Coordinates strides;
  };
  int64_t local_offset(const Piece& piece, const Coordinates& at) const;
  bool is_ours(int64_t processor) const { return has_piece(processor) && pieces_[processor].is_ours; }
  int64_t first_of_ours(const Colour& colour) const;

  Ownership owners_;
  ElementType type_;
  std::vector<int> order_;
  int64_t element_bytes_;
  int64_t version_;
  std::vector<Piece> pieces_;  // by processor
};

}  // namespace distal::core
