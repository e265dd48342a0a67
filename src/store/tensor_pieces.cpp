#include "store/tensor_pieces.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

namespace distal::core {

namespace {

constexpr int64_t kLargePiece = 4 << 20;  // beside this many bytes the padding is negligible

int64_t next_version() {
  static std::atomic<int64_t> last{0};
  return ++last;
}

int64_t local_of(const std::vector<Run>& runs, int64_t x) {
  auto run = std::upper_bound(runs.begin(), runs.end(), x, [](int64_t at, const Run& r) { return at < r.hi; });
  if (run == runs.end() || x < run->lo) throw InternalError("a processor does not own the element asked of it");
  return run->local + (x - run->lo);
}

}  // namespace

PieceOffsets piece_offsets(const Ownership& owners, ElementType type, const std::function<bool(int64_t)>& is_wanted,
                           int64_t begin) {
  PieceOffsets out{{}, begin};
  for (int64_t p = 0; p < owners.machine().processors; ++p) {
    bool wanted = owners.owns_any(p) && is_wanted(p);
    out.of.push_back(wanted ? out.end : -1);
    if (!wanted) continue;
    int64_t bytes = aligned(owners.piece_of(p).volume() * size_of(type));
    out.end += bytes + (bytes >= kLargePiece ? kLargePiecePadding : 0);
  }
  return out;
}

TensorPieces::TensorPieces(Ownership owners, ElementType type, std::vector<int> order)
    : owners_(std::move(owners)),
      type_(type),
      order_(std::move(order)),
      element_bytes_(size_of(type)),
      version_(next_version()),
      pieces_(static_cast<size_t>(owners_.machine().processors)) {
  for (int64_t p = 0; p < owners_.machine().processors; ++p) {
    if (!owners_.owns_any(p)) continue;
    pieces_[p].home = owners_.piece_of(p);
    pieces_[p].strides = dense_strides(pieces_[p].home.extents, order_);
  }
}

void TensorPieces::allocate(Allocator& allocator, const std::function<bool(int64_t)>& is_wanted) {
  version_ = next_version();
  for (int64_t p = 0; p < owners_.machine().processors; ++p) {
    Piece& piece = pieces_[p];
    if (piece.data || !owners_.owns_any(p) || !is_wanted(p)) continue;
    piece.block = allocator.allocate(p, piece.home.volume() * element_bytes_);
    piece.data = piece.block.get();
  }
}

void TensorPieces::allocate_cleared(Allocator& allocator, const std::function<bool(int64_t)>& is_wanted) {
  allocate(allocator, is_wanted);
  for (Piece& piece : pieces_) {
    if (piece.block) std::memset(piece.block.get(), 0, static_cast<size_t>(piece.home.volume() * element_bytes_));
  }
}

void TensorPieces::bind(int64_t processor, std::byte* data, const Coordinates& strides) {
  Piece& piece = pieces_[processor];
  version_ = next_version();
  piece.block = nullptr;
  piece.data = data;
  piece.strides = strides;
}

void TensorPieces::drop(int64_t processor) { bind(processor, nullptr, pieces_[processor].strides); }

void TensorPieces::attach(int64_t processor, std::byte* data, bool is_ours) {
  bind(processor, data, dense_strides(pieces_[processor].home.extents, order_));
  pieces_[processor].is_ours = is_ours;
}

void TensorPieces::attach(const PieceOffsets& offsets, std::byte* memory, bool is_ours) {
  for (size_t p = 0; p < offsets.of.size(); ++p) {
    if (offsets.of[p] >= 0) attach(static_cast<int64_t>(p), memory + offsets.of[p], is_ours);
  }
}

bool TensorPieces::has_piece(int64_t processor) const {
  return processor < static_cast<int64_t>(pieces_.size()) && pieces_[processor].data != nullptr;
}

int64_t TensorPieces::bytes_here(int64_t processor) const {
  return is_ours(processor) ? pieces_[processor].home.volume() * element_bytes_ : 0;
}

int64_t TensorPieces::local_offset(const Piece& piece, const Coordinates& at) const {
  int64_t offset = 0;
  for (size_t d = 0; d < at.size(); ++d) offset += local_of(*piece.home.runs[d], at[d]) * piece.strides[d];
  return offset;
}

View TensorPieces::view(int64_t processor, const Rect& rect) const {
  const Piece& piece = pieces_[processor];
  View view{piece.data, local_offset(piece, rect.lo), piece.strides};
  for (size_t d = 0; d < rect.lo.size(); ++d) view.offset -= rect.lo[d] * piece.strides[d];
  return view;
}

void TensorPieces::clear(int64_t processor) {
  Piece& piece = pieces_[processor];
  if (!piece.data) return;
  if (piece.block) {
    std::memset(piece.data, 0, static_cast<size_t>(piece.home.volume() * element_bytes_));
    return;
  }
  // The caller's buffer may have gaps, which must stay untouched.
  clear_rect(type_, {piece.data, 0, piece.strides}, whole(piece.home.extents));
}

std::byte* TensorPieces::element(int64_t processor, const Coordinates& at) const {
  const Piece& piece = pieces_[processor];
  return piece.data + local_offset(piece, at) * element_bytes_;
}

void TensorPieces::fill(const FillRow& row) {
  for (int64_t p = 0; p < owners_.machine().processors; ++p) {
    if (!is_ours(p)) continue;
    for (const Rect& rect : owners_.rects_of(p)) {
      View v = view(p, rect);
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
        row(std::span<const int64_t>(at.data(), at.size()), count, v.data + offset * element_bytes_, stride);
      });
    }
  }
}

// The first processor of this process that has a replica of the colour, or -1.
int64_t TensorPieces::first_local_replica(const Colour& colour) const {
  for (int64_t p : owners_.processors_of(colour)) {
    if (is_ours(p)) return p;
  }
  return -1;
}

std::string TensorPieces::differing_replica() const {
  if (!owners_.has_replicas()) return "";
  auto size = static_cast<size_t>(element_bytes_);
  std::string found;
  for (int64_t p = 0; p < owners_.machine().processors && found.empty(); ++p) {
    if (!is_ours(p)) continue;
    for (const Rect& rect : owners_.rects_of(p)) {
      if (rect.empty()) continue;
      int64_t first = first_local_replica(owners_.colour_of(rect.lo));
      if (first == p) continue;
      for_each_point(rect, [&](const Coordinates& at) {
        if (!found.empty() || std::memcmp(element(p, at), element(first, at), size) == 0) return;
        Rect point{at, at};
        for (int64_t& x : point.hi) ++x;
        found = to_string(point) + " on processor " + owners_.machine().processor_name(p);
      });
    }
  }
  return found;
}

std::vector<std::byte> TensorPieces::gather() const {
  return gather(whole(owners_.shape()), [](int64_t) { return true; });
}

std::vector<std::byte> TensorPieces::gather(const Rect& rect, const std::function<bool(int64_t)>& is_wanted) const {
  std::vector<int> rows_first(rect.dimensions());
  std::iota(rows_first.begin(), rows_first.end(), 0);
  std::vector<std::byte> out(static_cast<size_t>(rect.volume() * element_bytes_));
  View to = dense_view(out.data(), rect, rows_first);
  owners_.for_each_part(rect, [&](const Rect& part, const Colour& colour) {
    int64_t owner = owners_.first_owner(colour);
    if (is_wanted(owner)) copy_rect(type_, to, view(owner, part), part);
  });
  return out;
}

}  // namespace distal::core
