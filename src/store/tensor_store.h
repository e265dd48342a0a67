#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "store/tensor_pieces.h"

namespace distal::core {

// The pieces of all tensors of a plan, by the tensor's number in the plan.
class TensorStore {
 public:
  // Allocates pieces for every tensor.
  TensorStore(const Plan& plan, Allocator& allocator);
  // Shares existing pieces. Their layout must be the plan's.
  TensorStore(const Plan& plan, std::vector<std::shared_ptr<TensorPieces>> pieces);

  // A caller can release the pieces between runs and set them again before the next run. While they are released, a
  // tensor that gets new pieces can free the old ones.
  void set_pieces(int tensor, std::shared_ptr<TensorPieces> pieces) { pieces_[tensor] = std::move(pieces); }
  void release_pieces() {
    for (auto& pieces : pieces_) pieces = nullptr;
  }

  ElementType type() const { return type_; }
  TensorPieces& pieces(int tensor) const { return *pieces_[tensor]; }

  View view(int tensor, int64_t processor, const Rect& rect) const { return pieces_[tensor]->view(processor, rect); }
  void clear(int tensor, int64_t processor) { pieces_[tensor]->clear(processor); }
  bool has_piece(int tensor, int64_t processor) const { return pieces_[tensor]->has_piece(processor); }
  std::byte* element(int tensor, int64_t processor, const Coordinates& at) const {
    return pieces_[tensor]->element(processor, at);
  }

  int64_t bytes_here(int64_t processor) const;  // of the pieces of all tensors; 0 on another process's processor

  void fill(int tensor, const TensorPieces::FillRow& row) { pieces_[tensor]->fill(row); }
  // The same, element by element: `value` writes the element with the given coordinates.
  using FillElement = std::function<void(std::span<const int64_t> at, void* element)>;
  void fill(int tensor, const FillElement& value);
  std::string differing_replica(int tensor) const { return pieces_[tensor]->differing_replica(); }
  std::vector<std::byte> gather(int tensor) const { return pieces_[tensor]->gather(); }

 private:
  ElementType type_;
  std::vector<std::shared_ptr<TensorPieces>> pieces_;
};

// The largest peak of a processor of this process: the allocator's count plus the bytes of the store's pieces. The
// allocator must not have counted the pieces.
int64_t peak_with_pieces(const Allocator& allocator, const TensorStore& store);

}  // namespace distal::core
