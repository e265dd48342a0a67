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

// Padding after a large piece, in bytes. The sizes of large pieces often are powers of two. Without padding, the
// operands of a leaf would then lie at power-of-two distances, where their cache lines alias in the L1 cache of some
// CPUs. The padding is not a power of two, so that the total padding of several pieces is rarely one.
constexpr int64_t kLargePiecePadding = 3072;

// The offsets of the pieces of some processors that lie one after the other in one block of memory.
struct PieceOffsets {
  std::vector<int64_t> of;  // by processor; -1 if the processor has no piece there
  int64_t end = 0;
};
PieceOffsets piece_offsets(const Ownership& owners, ElementType type, const std::function<bool(int64_t)>& is_wanted,
                           int64_t begin = 0);

// The home pieces of one tensor: those of this process's processors, and those of other processes that it can access
// through shared memory. A piece lies in memory of this object or in a buffer of the caller, which is used in place.
class TensorPieces {
 public:
  TensorPieces(Ownership owners, ElementType type, std::vector<int> order);

  const Ownership& owners() const { return owners_; }
  ElementType type() const { return type_; }
  const std::vector<int>& order() const { return order_; }

  // Allocates memory for every wanted piece that has none yet.
  void allocate(
      Allocator& allocator, const std::function<bool(int64_t)>& is_wanted = [](int64_t) { return true; });
  // The same; then sets every piece in memory of this object to zero, including pieces that were allocated earlier.
  void allocate_cleared(Allocator& allocator, const std::function<bool(int64_t)>& is_wanted);
  // Uses the caller's memory for a processor's piece. `data` is its first element; `strides` count elements.
  void bind(int64_t processor, std::byte* data, const Coordinates& strides);
  // Removes a piece, and frees its memory if it is this object's.
  void drop(int64_t processor);
  // Uses `data` for a dense piece in the tensor's storage order. A piece of another process can be accessed here, but
  // this process neither fills it nor counts its bytes.
  void attach(int64_t processor, std::byte* data, bool is_ours);
  // The same for all pieces that have an offset in `memory`.
  void attach(const PieceOffsets& offsets, std::byte* memory, bool is_ours);

  // Changes whenever the memory of a piece changes. No two tensors have the same version.
  int64_t version() const { return version_; }
  bool has_piece(int64_t processor) const;
  // Whether the piece is one of this process's own.
  bool is_ours(int64_t processor) const { return has_piece(processor) && pieces_[processor].is_ours; }
  int64_t bytes_here(int64_t processor) const;  // 0 if this process has no piece of the processor
  std::byte* data(int64_t processor) const { return pieces_[processor].data; }
  const Coordinates& strides(int64_t processor) const { return pieces_[processor].strides; }
  // A view of `rect` in a processor's piece. Requires that the piece holds it in one run per dimension.
  View view(int64_t processor, const Rect& rect) const;
  void clear(int64_t processor);  // sets the piece to zero
  // An element in a processor's piece. Throws an InternalError if the processor does not own it.
  std::byte* element(int64_t processor, const Coordinates& at) const;

  // Sets every element of this process, in every replica, row by row. `row` writes the `count` elements from
  // coordinates `at` on along the last dimension to `memory`, `stride` elements apart.
  using FillRow = std::function<void(std::span<const int64_t> at, int64_t count, std::byte* memory, int64_t stride)>;
  void fill(const FillRow& row);
  // The first element found that differs between two replicas of this process, and its processor, as text. Empty if all
  // replicas agree.
  std::string differing_replica() const;
  // The whole tensor in row-major order, taken from the first replicas.
  std::vector<std::byte> gather() const;
  // The same of a rectangle. Elements whose first owner is not wanted stay zero.
  std::vector<std::byte> gather(const Rect& rect, const std::function<bool(int64_t)>& is_wanted) const;

 private:
  struct Piece {
    std::byte* data = nullptr;
    Block block;          // null if the memory is not this object's
    bool is_ours = true;  // the piece of a processor of this process
    HomePiece home;
    Coordinates strides;
  };
  int64_t local_offset(const Piece& piece, const Coordinates& at) const;
  int64_t first_local_replica(const Colour& colour) const;

  Ownership owners_;
  ElementType type_;
  std::vector<int> order_;
  int64_t element_bytes_;
  int64_t version_;
  std::vector<Piece> pieces_;  // by processor
};

}  // namespace distal::core
