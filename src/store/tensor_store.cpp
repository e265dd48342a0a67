#include "store/tensor_store.h"

#include <algorithm>
#include <cstring>

namespace distal {

namespace {

int64_t local_of(const std::vector<Run>& runs, int64_t x) {
  auto run = std::upper_bound(runs.begin(), runs.end(), x, [](int64_t at, const Run& r) { return at < r.hi; });
  if (run == runs.end() || x < run->lo) throw InternalError("a processor does not own the element asked of it");
  return run->local + (x - run->lo);
}

// Calls f for every coordinate of a rectangle, last dimension fastest.
template <class F>
void for_each_point(const Rect& rect, F&& f) {
  if (rect.empty()) return;
  Coordinates at = rect.lo;
  while (true) {
    f(at);
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == rect.hi[d - 1]) {
      at[d - 1] = rect.lo[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

}  // namespace

TensorStore::TensorStore(const Plan& plan, Allocator& allocator)
    : plan_(plan), type_(plan.program->module.type), pieces_(plan.tensors.size()) {
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const TensorPlan& tensor = plan.tensors[t];
    pieces_[t].resize(static_cast<size_t>(plan.processors));
    for (int64_t p = 0; p < tensor.owners.machine().processors; ++p) {
      if (!tensor.owners.owns_any(p)) continue;
      Piece& piece = pieces_[t][p];
      piece.home = tensor.owners.piece_of(p);
      piece.strides = dense_strides(piece.home.extents, tensor.order);
      piece.bytes = piece.home.volume() * tensor.element_bytes;
      piece.block = allocator.allocate(p, piece.bytes);
    }
  }
}

int64_t TensorStore::local_offset(const Piece& piece, const Coordinates& at) const {
  int64_t offset = 0;
  for (size_t d = 0; d < at.size(); ++d) offset += local_of(*piece.home.runs[d], at[d]) * piece.strides[d];
  return offset;
}

View TensorStore::view(int tensor, int64_t processor, const Rect& rect) const {
  const Piece& piece = pieces_[tensor][processor];
  View view{piece.block.get(), local_offset(piece, rect.lo), piece.strides};
  for (size_t d = 0; d < rect.lo.size(); ++d) view.offset -= rect.lo[d] * piece.strides[d];
  return view;
}

void TensorStore::clear(int tensor, int64_t processor) {
  Piece& piece = pieces_[tensor][processor];
  if (piece.block) std::memset(piece.block.get(), 0, static_cast<size_t>(piece.bytes));
}

std::byte* TensorStore::element(int tensor, int64_t processor, const Coordinates& at) const {
  const Piece& piece = pieces_[tensor][processor];
  return piece.block.get() + local_offset(piece, at) * plan_.tensors[tensor].element_bytes;
}

void TensorStore::fill(int tensor, const FillRow& row) {
  int64_t size = plan_.tensors[tensor].element_bytes;
  for (int64_t p = 0; p < plan_.processors; ++p) {
    if (!has_piece(tensor, p)) continue;
    for (const Rect& rect : plan_.tensors[tensor].owners.rects_of(p)) {
      View v = view(tensor, p, rect);
      Rect starts = rect;  // of the rows
      int64_t count = 1, stride = 1;
      if (!rect.lo.empty()) {
        count = rect.hi.back() - rect.lo.back();
        stride = v.strides.back();
        starts.hi.back() = starts.lo.back() + 1;
      }
      for_each_point(starts, [&](const Coordinates& at) {
        int64_t offset = v.offset;
        for (size_t d = 0; d < at.size(); ++d) offset += at[d] * v.strides[d];
        row(std::span<const int64_t>(at.data(), at.size()), count, v.data + offset * size, stride);
      });
    }
  }
}

void TensorStore::fill(int tensor, const FillElement& value) {
  int64_t size = plan_.tensors[tensor].element_bytes;
  fill(tensor, [&](std::span<const int64_t> at, int64_t count, std::byte* memory, int64_t stride) {
    Coordinates point(at.begin(), at.end());
    for (int64_t i = 0; i < count; ++i) {
      value(std::span<const int64_t>(point.data(), point.size()), memory + i * stride * size);
      if (!point.empty()) ++point.back();
    }
  });
}

std::string TensorStore::differing_replica(int tensor) const {
  const Ownership& owners = plan_.tensors[tensor].owners;
  if (!owners.has_replicas()) return "";
  auto size = static_cast<size_t>(plan_.tensors[tensor].element_bytes);
  std::string found;
  for (int64_t p = 0; p < plan_.processors && found.empty(); ++p) {
    for (const Rect& rect : owners.rects_of(p)) {
      for_each_point(rect, [&](const Coordinates& at) {
        int64_t first = owners.first_owner(owners.colour_of(at));
        if (first == p || !found.empty()) return;
        if (std::memcmp(element(tensor, p, at), element(tensor, first, at), size) != 0) {
          Rect point{at, at};
          for (int64_t& x : point.hi) ++x;
          found = to_string(point) + " on processor " + owners.machine().processor_name(p);
        }
      });
    }
  }
  return found;
}

std::vector<std::byte> TensorStore::gather(int tensor) const {
  const Ownership& owners = plan_.tensors[tensor].owners;
  Rect all;
  std::vector<int> order;
  int64_t volume = 1;
  for (int64_t extent : owners.shape()) {
    order.push_back(static_cast<int>(all.lo.size()));
    all.lo.push_back(0);
    all.hi.push_back(extent);
    volume *= extent;
  }
  std::vector<std::byte> out(static_cast<size_t>(volume * plan_.tensors[tensor].element_bytes));
  View to = dense_view(out.data(), all, order);
  owners.cut(all, [&](const Rect& part, const Colour& colour) {
    copy_rect(type_, to, view(tensor, owners.first_owner(colour), part), part);
  });
  return out;
}

}  // namespace distal
