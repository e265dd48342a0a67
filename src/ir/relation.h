#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lang/command.h"
#include "lang/index_notation.h"
#include "lang/int_expr.h"

namespace distal::core {

// The relations of a "s.t." clause. The first four derive loops from other loops; most others mark a loop.

struct SplitRelation {  // parent = outer * size + inner, inner < size
  IndexVar parent, outer, inner;
  IntExpr size;
  bool operator==(const SplitRelation&) const = default;
};
struct DivideRelation {  // parent = outer * ceildiv(extent(parent), parts) + inner, outer < parts
  IndexVar parent, outer, inner;
  IntExpr parts;
  bool operator==(const DivideRelation&) const = default;
};
struct CollapseRelation {  // fused = outer * extent(inner) + inner
  IndexVar outer, inner, fused;
  bool operator==(const CollapseRelation&) const = default;
};
struct RotateRelation {  // target = (result + sum of by) mod extent(target)
  IndexVar target;
  std::vector<IndexVar> by;
  IndexVar result;
  bool operator==(const RotateRelation&) const = default;
};

struct DistributeRelation {  // the iterations of the loop run on different processors
  IndexVar variable;
  std::optional<int> level;      // none: the machine's dimensions in loop order
  std::optional<int> dimension;  // of that level's grid; none: the next free dimension in loop order
  bool operator==(const DistributeRelation&) const = default;
};
struct HoldRelation {  // no loop is distributed onto this machine dimension; the statement runs at this face of it
  int level = 0;
  int dimension = 0;
  IntExpr face;
  bool operator==(const HoldRelation&) const = default;
};
// The statement, which is a copy, runs at every coordinate of this machine dimension. Each replica of its output
// fetches the elements that it lacks.
struct EverywhereRelation {
  int level = 0;
  int dimension = 0;
  bool operator==(const EverywhereRelation&) const = default;
};
struct CommunicateRelation {
  Name tensor;
  IndexVar at;
  bool operator==(const CommunicateRelation&) const = default;
};
struct SubstituteRelation {
  std::vector<IndexVar> variables;
  Name kernel;
  bool operator==(const SubstituteRelation&) const = default;
};
struct ParallelizeRelation {
  IndexVar variable;
  Race race = Race::None;
  bool operator==(const ParallelizeRelation&) const = default;
};
struct UnrollRelation {
  IndexVar variable;
  IntExpr factor;
  bool operator==(const UnrollRelation&) const = default;
};
struct VectorizeRelation {
  IndexVar variable;
  bool operator==(const VectorizeRelation&) const = default;
};

// The producer fills a workspace that the consumer reads. The producer has its own copies of some loops, and of the
// indices that these loops were made from: copies[i] is the copy of originals[i].
struct PrecomputeRelation {
  Name workspace;
  std::vector<IndexVar> originals, copies;
  std::vector<IndexVar> sums;   // the variables that the producer sums over
  std::vector<IndexVar> fixed;  // the other variables of the part that are no index of the workspace
  bool operator==(const PrecomputeRelation&) const = default;

  // The producer's copy of a variable; the variable itself if it has no copy.
  IndexVar copy_of(const IndexVar& v) const;
};

using Relation = std::variant<SplitRelation, DivideRelation, CollapseRelation, RotateRelation, DistributeRelation,
                              HoldRelation, EverywhereRelation, CommunicateRelation, SubstituteRelation,
                              ParallelizeRelation, UnrollRelation, VectorizeRelation, PrecomputeRelation>;

std::string to_string(const Relation& relation);

}  // namespace distal::core
