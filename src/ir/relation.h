#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lang/command.h"
#include "lang/index_notation.h"
#include "lang/int_expr.h"

namespace distal::core {

// The relations of a "s.t." clause. The first four say how loops derive from one another; the others mark loops.

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
  std::optional<int> dimension;  // of that level's grid; none: the next free one in loop order
  bool operator==(const DistributeRelation&) const = default;
};
struct HoldRelation {  // nothing is distributed onto this machine dimension, and it is not at 0 but at this face
  int level = 0;
  int dimension = 0;
  IntExpr face;
  bool operator==(const HoldRelation&) const = default;
};
// A copy runs at every coordinate of this machine dimension, so that each replica of its output takes what it lacks.
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

// A workspace stands between a producer and a consumer. In the producer every variable of `of` goes by the name beside
// it in `as`: its own copies of loops, and of the indices that these loops were cut from.
struct PrecomputeRelation {
  Name workspace;
  std::vector<IndexVar> of, as;
  std::vector<IndexVar> sums;   // what the producer sums over
  std::vector<IndexVar> fixed;  // what the part uses besides its indices and sums: it stands still inside
  bool operator==(const PrecomputeRelation&) const = default;

  // The producer's name of a variable.
  IndexVar copy_of(const IndexVar& v) const;
};

using Relation = std::variant<SplitRelation, DivideRelation, CollapseRelation, RotateRelation, DistributeRelation,
                              HoldRelation, EverywhereRelation, CommunicateRelation, SubstituteRelation,
                              ParallelizeRelation, UnrollRelation, VectorizeRelation, PrecomputeRelation>;

std::string to_string(const Relation& relation);

}  // namespace distal::core
