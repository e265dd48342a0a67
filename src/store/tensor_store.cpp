#include "store/tensor_store.h"

#include <algorithm>

namespace distal::core {

TensorStore::TensorStore(const Plan& plan, Allocator& allocator) : type_(plan.program->module.type) {
  for (const TensorPlan& t : plan.tensors) {
    pieces_.push_back(std::make_shared<TensorPieces>(t.owners, type_, t.order));
    pieces_.back()->allocate(allocator);
  }
}

TensorStore::TensorStore(const Plan& plan, std::vector<std::shared_ptr<TensorPieces>> pieces)
    : type_(plan.program->module.type), pieces_(std::move(pieces)) {}

int64_t TensorStore::bytes_here(int64_t processor) const {
  int64_t bytes = 0;
  for (const auto& pieces : pieces_) bytes += pieces->bytes_here(processor);
  return bytes;
}

int64_t peak_with_pieces(const Allocator& allocator, const TensorStore& store) {
  std::vector<int64_t> peaks = allocator.peaks();
  for (size_t p = 0; p < peaks.size(); ++p) peaks[p] += store.bytes_here(static_cast<int64_t>(p));
  return *std::max_element(peaks.begin(), peaks.end());
}

void TensorStore::fill(int tensor, const FillElement& value) {
  int64_t size = size_of(type_);
  fill(tensor, [&](std::span<const int64_t> at, int64_t count, std::byte* memory, int64_t stride) {
    Coordinates point(at.begin(), at.end());
    for (int64_t i = 0; i < count; ++i) {
      value(std::span<const int64_t>(point.data(), point.size()), memory + i * stride * size);
      if (!point.empty()) ++point.back();
    }
  });
}

}  // namespace distal::core
