#include "plan/ownership.h"

#include <algorithm>

namespace distal::core {

namespace {

size_t position_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

int64_t HomePiece::volume() const {
  int64_t v = 1;
  for (int64_t e : extents) v *= e;
  return v;
}

Ownership::Ownership(const Tensor& tensor, const Bindings& params) : partitions_(tensor.dimensions.size()) {
  for (const IntExpr& e : tensor.dimensions) shape_.push_back(e.evaluate(params));
  if (tensor.distribution && tensor.machine) {
    machine_ = shape_of(*tensor.machine, params);
  } else {
    machine_ = shape_of(Machine{"", {Grid{{IntExpr(1)}, ProcessorKind::Cpu, {}}}, {}}, params);
  }
  faces_.assign(machine_.extents.size(), 0);
  Coordinates extent = shape_;  // of a full-sized piece of the levels seen so far
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
        size_t d = position_of(level.tensor_dimensions, partition->name);
        DimensionPartition made{dimension, machine_.extents[dimension], 1};
        auto block = level.cyclic.find(partition->name);
        made.block = block == level.cyclic.end() ? ceil_div(extent[d], made.parts) : block->second.evaluate(params);
        partitions_[d].push_back(made);
        // The next level partitions a piece of full size, so that it treats all pieces alike, short ones too.
        extent[d] = checked_mul(ceil_div(extent[d], checked_mul(made.block, made.parts)), made.block);
      } else {
        faces_[dimension] = kBroadcast;
      }
    }
  }
  runs_.resize(shape_.size());
  for (size_t d = 0; d < shape_.size(); ++d) build_runs(d);
}

void Ownership::build_runs(size_t d) {
  int64_t colours = 1;
  for (const DimensionPartition& c : partitions_[d]) colours *= c.parts;
  runs_[d].resize(static_cast<size_t>(colours));
  Colour colour(machine_.extents.size(), kUncut);
  for_each_block(d, 0, 0, shape_[d], 0, colour, [&](const Run& block) {
    std::vector<Run>& runs = runs_[d][static_cast<size_t>(colour_number(d, colour))];
    // Two blocks that follow each other in the tensor and in the piece are one run.
    if (!runs.empty() && runs.back().hi == block.lo && runs.back().local + (block.lo - runs.back().lo) == block.local) {
      runs.back().hi = block.hi;
    } else {
      runs.push_back(block);
    }
  });
}

int64_t Ownership::colour_number(size_t d, const Coordinates& at) const {
  int64_t n = 0;
  for (const DimensionPartition& c : partitions_[d]) n = n * c.parts + at[c.machine_dimension];
  return n;
}

bool Ownership::has_replicas() const {
  for (size_t m = 0; m < faces_.size(); ++m) {
    if (faces_[m] == kBroadcast && machine_.extents[m] > 1) return true;
  }
  return false;
}

Colour Ownership::colour_of(const Coordinates& point) const {
  Colour colour(machine_.extents.size(), kUncut);
  for (size_t d = 0; d < shape_.size(); ++d) {
    int64_t x = point[d];
    for (const DimensionPartition& c : partitions_[d]) {
      int64_t block = x / c.block;
      colour[c.machine_dimension] = block % c.parts;
      x = (block / c.parts) * c.block + x % c.block;
    }
  }
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

bool Ownership::owns_any(int64_t processor) const {
  if (processor >= machine_.processors) return false;
  Coordinates at = machine_.coordinates(processor);
  for (size_t m = 0; m < faces_.size(); ++m) {
    if (faces_[m] >= 0 && at[m] != faces_[m]) return false;
  }
  for (size_t d = 0; d < shape_.size(); ++d) {
    if (runs_[d][static_cast<size_t>(colour_number(d, at))].empty()) return false;
  }
  return true;
}

HomePiece Ownership::piece_of(int64_t processor) const {
  Coordinates at = machine_.coordinates(processor);
  HomePiece piece;
  for (size_t d = 0; d < shape_.size(); ++d) {
    const std::vector<Run>& runs = runs_[d][static_cast<size_t>(colour_number(d, at))];
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
