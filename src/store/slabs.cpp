#include "store/slabs.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace distal::core {

namespace {

// Parts of a slab whose runs have at least this many bytes are read one by one. If runs are shorter, the whole slab is
// read.
constexpr int64_t kLongRunBytes = 4096;

// The part of a slab that has one colour, and the processors of this process that own it.
struct Part {
  Rect rect;
  std::vector<int64_t> owners;
};

// The rectangle with its dimensions in another order.
Rect permuted(const Rect& rect, const std::vector<int>& order) {
  Rect out;
  for (int d : order) {
    out.lo.push_back(rect.lo[d]);
    out.hi.push_back(rect.hi[d]);
  }
  return out;
}

// Cuts a rectangle into slabs, in the order in which they lie in an array with such an order of dimensions.
std::vector<Rect> slabs_of(const Rect& rect, const std::vector<int>& order, int64_t element_bytes) {
  if (rect.empty()) return {};
  std::vector<int> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int>(i);
  std::vector<Rect> out;
  for (const Rect& slab : cut_up(permuted(rect, order), kSlabBytes / element_bytes))
    out.push_back(permuted(slab, back));
  return out;
}

std::vector<int> row_major(size_t dimensions) {
  std::vector<int> order(dimensions);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Which processors of this process take part.
enum class Replicas { All, First };

// The slabs of the smallest rectangle around the pieces of these processors.
std::vector<Rect> slabs_around(const TensorPieces& pieces, Replicas which, const std::vector<int>& order) {
  const Ownership& owners = pieces.owners();
  std::optional<Rect> around;
  for (int64_t p = 0; p < owners.machine().processors; ++p) {
    if (!pieces.is_ours(p)) continue;
    Rect piece;
    for (const std::vector<Run>* runs : owners.piece_of(p).runs) {
      piece.lo.push_back(runs->front().lo);
      piece.hi.push_back(runs->back().hi);
    }
    if (which == Replicas::First && owners.first_owner(owners.colour_of(piece.lo)) != p) continue;
    if (!around) around = piece;
    for (size_t d = 0; d < piece.lo.size(); ++d) {
      around->lo[d] = std::min(around->lo[d], piece.lo[d]);
      around->hi[d] = std::max(around->hi[d], piece.hi[d]);
    }
  }
  return around ? slabs_of(*around, order, size_of(pieces.type())) : std::vector<Rect>{};
}

std::vector<Part> parts_of(const TensorPieces& pieces, Replicas which, const Rect& slab) {
  const Ownership& owners = pieces.owners();
  std::vector<Part> out;
  owners.for_each_part(slab, [&](const Rect& rect, const Colour& colour) {
    Part part{rect, {owners.first_owner(colour)}};
    if (which == Replicas::All) part.owners = owners.processors_of(colour);
    std::erase_if(part.owners, [&](int64_t p) { return !pieces.is_ours(p); });
    if (!part.owners.empty()) out.push_back(std::move(part));
  });
  return out;
}

bool has_long_runs(const Rect& rect, const std::vector<int>& order, int64_t element_bytes) {
  return order.empty() || (rect.hi[order.back()] - rect.lo[order.back()]) * element_bytes >= kLongRunBytes;
}

}  // namespace

void load_pieces(TensorPieces& pieces, const std::vector<int>& order, const ReadRect& read) {
  int64_t element_bytes = size_of(pieces.type());
  std::vector<std::byte> memory;
  for (const Rect& slab : slabs_around(pieces, Replicas::All, order)) {
    std::vector<Part> parts = parts_of(pieces, Replicas::All, slab);
    if (parts.empty()) continue;
    memory.resize(static_cast<size_t>(slab.volume() * element_bytes));
    bool together = !has_long_runs(parts[0].rect, order, element_bytes);
    if (together) read(slab.lo, slab.hi, memory.data());
    for (const Part& part : parts) {
      if (!together) read(part.rect.lo, part.rect.hi, memory.data());
      View from = dense_view(memory.data(), together ? slab : part.rect, order);
      for (int64_t p : part.owners) copy_rect(pieces.type(), pieces.view(p, part.rect), from, part.rect);
    }
  }
}

void save_pieces(const TensorPieces& pieces, const WriteRect& write) {
  int64_t element_bytes = size_of(pieces.type());
  std::vector<int> order = row_major(pieces.owners().shape().size());
  std::vector<std::byte> memory;
  for (const Rect& slab : slabs_around(pieces, Replicas::First, order)) {
    std::vector<Part> parts = parts_of(pieces, Replicas::First, slab);
    int64_t volume = 0;
    for (const Part& part : parts) volume += part.rect.volume();
    bool together = volume == slab.volume();
    memory.resize(static_cast<size_t>(slab.volume() * element_bytes));
    for (const Part& part : parts) {
      View to = dense_view(memory.data(), together ? slab : part.rect, order);
      copy_rect(pieces.type(), to, pieces.view(part.owners[0], part.rect), part.rect);
      if (!together) write(part.rect.lo, part.rect.hi, memory.data());
    }
    if (together) write(slab.lo, slab.hi, memory.data());
  }
}

std::vector<std::byte> read_whole(ElementType type, const Coordinates& shape, const std::vector<int>& order,
                                  const ReadRect& read) {
  Rect all = whole(shape);
  std::vector<std::byte> out(static_cast<size_t>(all.volume() * size_of(type))), memory;
  View to = dense_view(out.data(), all, row_major(shape.size()));
  for (const Rect& slab : slabs_of(all, order, size_of(type))) {
    memory.resize(static_cast<size_t>(slab.volume() * size_of(type)));
    read(slab.lo, slab.hi, memory.data());
    copy_rect(type, to, dense_view(memory.data(), slab, order), slab);
  }
  return out;
}

}  // namespace distal::core
