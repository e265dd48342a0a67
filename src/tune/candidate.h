#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lang/block_cyclic.h"

namespace distal::core {

// What every processor owns of a tensor whose format is given: by processor and dimension, the runs of coordinates. A
// piece is the product of its runs, and empty if a dimension has none. `owns_scalar`: which processors own a scalar.
struct GivenPieces {
  std::vector<std::vector<std::vector<Run>>> runs;
  std::vector<bool> owns_scalar;
  double average_elements = 0;  // of a piece, over all processors
  // Of an output that has replicas: the first processor that has the same piece. Otherwise empty.
  std::vector<int64_t> first_replica{};
};

// An access of a tensor: by dimension, the number of its index in StatementShape::indices, and what is added to it.
struct ShapeAccess {
  std::vector<int> indices;
  std::vector<int64_t> offsets;

  bool operator==(const ShapeAccess&) const = default;
};

// A tensor of a statement.
inline constexpr int kNoOwnIndex = -2;
struct ShapeTensor {
  std::string name;
  // By dimension, the index whose cuts a free format follows: that of the access with most indices. Of an index that
  // is repeated, only the first dimension follows the cuts; the others have kNoOwnIndex.
  std::vector<int> indices;
  int64_t element_bytes = 8;
  std::shared_ptr<const GivenPieces> given{};  // null: the format is free
  // All accesses, and the tensor's extents, if `indices` does not say it all: if the tensor is accessed in several
  // ways, or with a shift or a repeated index. Otherwise empty.
  std::vector<ShapeAccess> accesses{};
  std::vector<int64_t> extents{};
  // What the output held before a statement that reads it. It lies where the output lies.
  bool is_old_output = false;

  // Whether each processor touches one rectangle, which is the tile of `indices`.
  bool is_simple() const { return accesses.empty(); }
  bool has_index(int index) const;  // in some access
  bool operator==(const ShapeTensor&) const = default;
};

// A given format deals out a tensor's dimension with this index in blocks, to this many processors.
struct CyclicCut {
  int index = 0;
  int64_t parts = 1;
  int64_t block = 1;

  bool operator==(const CyclicCut&) const = default;
};

// What the search knows of a statement: its indices with their extents, and its tensors, the output first, and behind
// it what it held before, if the statement reads that. All tensors are needed at every point of the iteration space.
struct StatementShape {
  std::vector<std::string> indices;
  std::vector<int64_t> extents;
  std::vector<ShapeTensor> tensors;
  std::vector<CyclicCut> cyclic_cuts{};  // each once
  double flops_per_point = 2;            // of the kernels, on average
  bool accumulates = false;              // += or -=
  int64_t processors = 1;                // with those that a candidate leaves idle, which may own given pieces

  bool has_given_formats() const;
  bool has_simple_accesses() const;  // of all tensors
  bool has_replicas() const;         // of the output
  bool may_be_dealt_out() const { return has_simple_accesses() && !has_replicas(); }
  int64_t extent_of(int tensor, int dimension) const;
};

// One dimension of a candidate's machine: `parts` processors, which cut one index into tiles of `tile` iterations, or
// deal it out in blocks, as a given format does. If it cuts no index, only coordinate 0 has work.
inline constexpr int kNoIndex = -1;
struct GridLevel {
  int index = kNoIndex;
  int64_t parts = 1;
  int64_t tile = 1;
  int machine_level = 0;  // the level of the dimension; a level cuts each dimension of a tensor at most once
  int64_t block = 0;      // the size of the blocks that are dealt out; 0: each coordinate has one tile

  bool is_cyclic() const { return block > 0; }
  // The blocks of the coordinate, as runs of iterations.
  std::vector<Run> runs_of(int64_t coordinate, int64_t extent) const;
  bool operator==(const GridLevel&) const = default;
};

// A sequential loop of every processor: it cuts the processor's part of one index into `parts` chunks. If it is
// rotated, processors that share the tile of a tensor begin at different chunks (`rotating_levels`).
struct SequentialLoop {
  int index = 0;
  int64_t parts = 1;
  bool is_rotated = false;

  bool operator==(const SequentialLoop&) const = default;
};

// How one tensor with a free format lies on the machine: by level, the dimension of the tensor that the level cuts, or
// kFace if the tensor lies at coordinate 0 of the level. The level that cuts an index cuts the tensor's dimension of
// this index too. So a tensor has one copy: the tile of the work, cut once more over the processors that share it.
inline constexpr int kFace = -1;
using LevelRoles = std::vector<int>;

// A grid, a schedule and formats for a statement, as data. If no level cuts an index, its one tile is its whole range.
// Every tensor is communicated at the innermost sequential loop over an index of its own, or, without one, at the
// innermost distributed loop.
struct Candidate {
  std::vector<GridLevel> levels;      // outermost first; at most one per index and level of the machine
  std::vector<LevelRoles> roles;      // by tensor
  std::vector<SequentialLoop> loops;  // outermost first; at most one per index

  int64_t processors() const;     // of the machine
  int level_of(int index) const;  // the outermost that cuts it; -1: no level does
  int innermost_level_of(int index) const;
  int64_t tile_of(const StatementShape& shape, int index) const;
  bool is_cyclic() const;  // some level deals out its index
  bool deals_out(int index) const;
  bool is_nested() const;  // several levels cut one index
  bool operator==(const Candidate&) const = default;
};

// One cut of a dimension of a tensor. The cuts before it leave a range of elements; coordinate c of the level has those
// from c * stride to (c + 1) * stride in this range.
struct Cut {
  int level = 0;
  int64_t parts = 1;
  int64_t stride = 1;
};

// The cuts of one dimension of a tensor, the coarsest first. First come the cuts of the work. Levels outside of it that
// share the tile come next: their cuts are finer, although they stand further out, so in the tensor's distribution they
// are cyclic, with the finest stride as block. Then come the shares of levels inside of it, or of all levels if the
// dimension is not cut by the work.
std::vector<Cut> cuts_of(const StatementShape& shape, const Candidate& candidate, int tensor, int dimension);

// The tensor that is communicated block by block: one with all indices that are dealt out, the output if it has them.
// It makes the loops over blocks steps, so that operands are acquired without the elements between blocks. -1: none.
int tensor_in_blocks(const StatementShape& shape, const Candidate& candidate);
// Whether a tensor is acquired block by block. An output is, because it is acquired as one rectangle.
bool is_in_blocks(const StatementShape& shape, const Candidate& candidate, int tensor);

// The cyclic shares of a tensor fill the tile of an index if its size is a multiple of this number.
int64_t cyclic_shares(const StatementShape& shape, const Candidate& candidate, int tensor, int dimension);

// The shares of all tensors fill the tile of a level if its size is a multiple of this number.
int64_t tile_multiple(const StatementShape& shape, const Candidate& candidate, const GridLevel& level);

// The levels along which processors share tiles that a loop over this index cuts into chunks. If the loop is rotated by
// them, each processor gets its chunk from a neighbour or from home, instead of all of them one chunk from its owner.
// None if a tensor is not simple, because the chunks of its accesses may overlap: another order would move other bytes.
std::vector<int> rotating_levels(const StatementShape& shape, const Candidate& candidate, int index);

// Whether a free format can cut this dimension of a tensor by a level that shares its tile. A tensor that is not simple
// has no cyclic cuts.
bool can_share(const StatementShape& shape, const Candidate& candidate, int tensor, int level, int dimension);

// The candidate with all dimensions in one machine level, if no tile is rounded up and no dimension of a tensor is cut
// several times. Otherwise the candidate as it is.
Candidate flattened(const StatementShape& shape, Candidate candidate);

}  // namespace distal::core
