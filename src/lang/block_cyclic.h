// What a blocked or block-cyclic distribution means. Emitted Legion programs get a copy of this file, so it includes
// the standard library alone and stays within C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace distal::core {

// A dimension in blocks of `block` coordinates, dealt out to the `parts` coordinates of a machine dimension: block b
// goes to coordinate b mod parts in round b div parts. The blocks of a coordinate, one after another, are its piece.
struct BlockCyclic {
  int64_t parts = 1;
  int64_t block = 1;

  // Without a block size it is one block per coordinate, so one round. A dimension without coordinates has blocks too,
  // since a block size is a divisor.
  BlockCyclic(int64_t extent, int64_t parts_of_machine, std::optional<int64_t> block_size)
      : parts(parts_of_machine), block(std::max<int64_t>(1, block_size.value_or(up(extent, parts_of_machine)))) {}

  int64_t coordinate_of(int64_t x) const { return x / block % parts; }
  // The number of `x` in its piece.
  int64_t local_of(int64_t x) const { return x / block / parts * block + x % block; }
  int64_t blocks(int64_t extent) const { return up(extent, block); }
  int64_t rounds(int64_t extent) const { return up(blocks(extent), parts); }
  // Of a full-sized piece. The next level cuts every piece as if it had this extent, so that it treats all alike.
  int64_t piece_extent(int64_t extent) const { return rounds(extent) * block; }

 private:
  static int64_t up(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }
};

// A cut of one dimension of a tensor by one dimension of the machine.
struct DimensionCut {
  int machine_dimension;
  int64_t parts;
  std::optional<int64_t> block;  // none: one block per coordinate
};

// A run of consecutive coordinates lo <= x < hi of one dimension that one piece holds side by side.
struct Run {
  int64_t lo = 0;
  int64_t hi = 0;
  int64_t local = 0;  // the number of `lo` in the piece
};

// One dimension of a tensor, cut by the dimensions of the machine, outermost level first. Each cut is of the pieces
// that the cuts before it made. A `Point` is a list of coordinates, one per dimension of the machine.
class PartitionedDimension {
 public:
  PartitionedDimension(int64_t extent, const std::vector<DimensionCut>& cuts) {
    int64_t pieces = 1, piece_extent = extent;
    size_t dimensions = 0;
    for (const DimensionCut& cut : cuts) {
      levels_.push_back({static_cast<size_t>(cut.machine_dimension), {piece_extent, cut.parts, cut.block}});
      piece_extent = levels_.back().blocks.piece_extent(piece_extent);
      pieces *= cut.parts;
      dimensions = std::max(dimensions, levels_.back().machine_dimension + 1);
    }
    runs_.resize(static_cast<size_t>(pieces));
    std::vector<int64_t> at(dimensions);
    for_each_block(0, extent, at, [&](const Run& block) {
      std::vector<Run>& runs = runs_[piece_number(at)];
      bool continues =
          !runs.empty() && runs.back().hi == block.lo && block.lo - runs.back().lo + runs.back().local == block.local;
      if (continues) {
        runs.back().hi = block.hi;
      } else {
        runs.push_back(block);
      }
    });
  }

  // The runs of the piece at a point of the machine.
  template <class Point>
  const std::vector<Run>& runs_at(const Point& at) const {
    return runs_[piece_number(at)];
  }

  // Calls f(run) for each block of lo <= x < hi, with the coordinates of its owner in `owner`. Coordinates of machine
  // dimensions that do not cut this dimension stay as they are.
  template <class Point, class F>
  void for_each_block(int64_t lo, int64_t hi, Point& owner, F&& f) const {
    for_each_block_from(0, Run{lo, hi, lo}, owner, f);
  }

  // Sets the coordinates of the owner of `x` in `owner`.
  template <class Point>
  void find_owner(int64_t x, Point& owner) const {
    for (const Level& level : levels_) {
      owner[level.machine_dimension] = level.blocks.coordinate_of(x);
      x = level.blocks.local_of(x);
    }
  }

 private:
  struct Level {
    size_t machine_dimension;
    BlockCyclic blocks;
  };

  template <class Point>
  size_t piece_number(const Point& at) const {
    int64_t n = 0;
    for (const Level& level : levels_) n = n * level.blocks.parts + at[level.machine_dimension];
    return static_cast<size_t>(n);
  }

  template <class Point, class F>
  void for_each_block_from(size_t l, const Run& run, Point& owner, F& f) const {
    if (l == levels_.size()) {
      f(run);
      return;
    }
    const auto& [machine_dimension, blocks] = levels_[l];
    int64_t end = run.local + run.hi - run.lo;
    for (int64_t x = run.local; x < end;) {
      int64_t next = std::min(end, (x / blocks.block + 1) * blocks.block);
      owner[machine_dimension] = blocks.coordinate_of(x);
      int64_t lo = run.lo + x - run.local;
      for_each_block_from(l + 1, Run{lo, lo + next - x, blocks.local_of(x)}, owner, f);
      x = next;
    }
  }

  std::vector<Level> levels_;
  std::vector<std::vector<Run>> runs_;  // by piece
};

}  // namespace distal::core
