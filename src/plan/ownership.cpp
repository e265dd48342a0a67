#include "plan/ownership.h"

#include <algorithm>

namespace distal::core {

int64_t HomePiece::volume() const {
  int64_t v = 1;
  for (int64_t e : extents) v *= e;
  return v;
}

Ownership::Ownership(const Tensor& tensor, const Bindings& params) {
  for (const IntExpr& e : tensor.dimensions) shape_.push_back(e.evaluate(params));
  if (tensor.distribution && tensor.machine) {
    machine_ = shape_of(*tensor.machine, params);
  } else {
    machine_ = shape_of(Machine{"", {Grid{{IntExpr(1)}, Processor::CPU, {}}}, {}}, params);
  }
  faces_.assign(machine_.extents.size(), 0);
  std::vector<std::vector<DimensionCut>> cuts(shape_.size());
  size_t levels = tensor.distribution ? tensor.distribution->levels.size() : 0;
  for (size_t l = 0; l < levels; ++l) {
    const LevelDistribution& level = tensor.distribution->levels[l];
    for (size_t m = 0; m < level.machine_dimensions.size(); ++m) {
      int dimension = machine_.dimension(static_cast<int>(l), static_cast<int>(m));
      const auto& role = level.machine_dimensions[m].role;
      if (const auto* fix = std::get_if<Fix>(&role)) {
        faces_[dimension] = fix->face.evaluate(params);
      } else if (const auto* partition = std::get_if<Partition>(&role)) {
        faces_[dimension] = kPartitions;
        std::optional<int64_t> block;
        if (std::optional<IntExpr> cyclic = level.block_of(*partition)) block = cyclic->evaluate(params);
        cuts[level.dimension_of(*partition)].push_back({dimension, machine_.extents[dimension], block});
      } else {
        faces_[dimension] = kBroadcast;
      }
    }
  }
  for (size_t d = 0; d < shape_.size(); ++d) dimensions_.emplace_back(shape_[d], cuts[d]);
}

bool Ownership::has_replicas() const {
  for (size_t m = 0; m < faces_.size(); ++m) {
    if (faces_[m] == kBroadcast && machine_.extents[m] > 1) return true;
  }
  return false;
}

Colour Ownership::colour_of(const Coordinates& point) const {
  Colour colour(machine_.extents.size(), kUncut);
  for (size_t d = 0; d < shape_.size(); ++d) dimensions_[d].find_owner(point[d], colour);
  return colour;
}

std::vector<int64_t> Ownership::processors_of(const Colour& colour) const {
  std::vector<int64_t> out{0};
  for (size_t m = 0; m < machine_.extents.size(); ++m) {
    std::vector<int64_t> next;
    int64_t extent = machine_.extents[m];
    for (int64_t p : out) {
      if (faces_[m] == kBroadcast) {
        for (int64_t x = 0; x < extent; ++x) next.push_back(p * extent + x);
      } else {
        next.push_back(p * extent + (faces_[m] == kPartitions ? colour[m] : faces_[m]));
      }
    }
    out = std::move(next);
  }
  return out;
}

int64_t Ownership::first_owner(const Colour& colour) const {
  int64_t p = 0;
  for (size_t m = 0; m < machine_.extents.size(); ++m) {
    int64_t at = faces_[m] == kPartitions ? colour[m] : faces_[m] == kBroadcast ? 0 : faces_[m];
    p = p * machine_.extents[m] + at;
  }
  return p;
}

int64_t Ownership::nearest_owner(const Colour& colour, int64_t processor) const {
  int64_t p = 0;
  int64_t stride = machine_.processors;
  for (size_t m = 0; m < machine_.extents.size(); ++m) {
    stride /= machine_.extents[m];
    int64_t same = (processor / stride) % machine_.extents[m];
    int64_t at = faces_[m] == kPartitions ? colour[m] : faces_[m] == kBroadcast ? same : faces_[m];
    p = p * machine_.extents[m] + at;
  }
  return p;
}

int64_t Ownership::first_replica(int64_t processor) const {
  Coordinates at = machine_.coordinates(processor);
  for (size_t m = 0; m < faces_.size(); ++m) {
    if (faces_[m] == kBroadcast) at[m] = 0;
  }
  return machine_.processor(at);
}

bool Ownership::owns_any(int64_t processor) const {
  bool has_elements = std::find(shape_.begin(), shape_.end(), 0) == shape_.end();
  if (processor >= machine_.processors || !has_elements) return false;
  Coordinates at = machine_.coordinates(processor);
  for (size_t m = 0; m < faces_.size(); ++m) {
    if (faces_[m] >= 0 && at[m] != faces_[m]) return false;
  }
  return std::none_of(dimensions_.begin(), dimensions_.end(),
                      [&](const PartitionedDimension& d) { return d.runs_at(at).empty(); });
}

HomePiece Ownership::piece_of(int64_t processor) const {
  Coordinates at = machine_.coordinates(processor);
  HomePiece piece;
  for (const PartitionedDimension& d : dimensions_) {
    const std::vector<Run>& runs = d.runs_at(at);
    piece.runs.push_back(&runs);
    piece.extents.push_back(runs.empty() ? 0 : runs.back().local + runs.back().hi - runs.back().lo);
  }
  return piece;
}

std::vector<Rect> Ownership::rects_of(int64_t processor) const {
  if (!owns_any(processor)) return {};
  HomePiece piece = piece_of(processor);
  std::vector<Rect> out{Rect{}};
  for (size_t d = 0; d < shape_.size(); ++d) {
    std::vector<Rect> next;
    for (const Rect& r : out) {
      for (const Run& run : *piece.runs[d]) {
        Rect longer = r;
        longer.lo.push_back(run.lo);
        longer.hi.push_back(run.hi);
        next.push_back(std::move(longer));
      }
    }
    out = std::move(next);
  }
  return out;
}

int64_t Ownership::single_owner(const Rect& rect, int64_t processor) const {
  int64_t owner = nearest_owner(colour_of(rect.lo), processor);
  HomePiece piece = piece_of(owner);
  for (size_t d = 0; d < shape_.size(); ++d) {
    const std::vector<Run>& runs = *piece.runs[d];
    auto run = std::upper_bound(runs.begin(), runs.end(), rect.lo[d], [](int64_t x, const Run& r) { return x < r.hi; });
    if (run == runs.end() || rect.lo[d] < run->lo || rect.hi[d] > run->hi) return -1;
  }
  return owner;
}

}  // namespace distal::core
