#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ir/relation.h"
#include "lang/int_expr.h"
#include "support/checked.h"

namespace distal::core {

// How the variables of a statement derive from one another. Variables are numbered. `Number` is IntExpr in a Program,
// where sizes are symbolic, and int64_t in a Plan, where they are known; bounds analysis is a template over both.

struct Tile {  // parent = outer * extent(inner) + inner, for split and divide
  int parent, outer, inner;
};
struct Fuse {  // fused = outer * extent(inner) + inner
  int outer, inner, fused;
};
struct Rotation {  // target = (result + sum of by) mod extent(target)
  int target;
  std::vector<int> by;
  int result;
};
using Derivation = std::variant<Tile, Fuse, Rotation>;

template <class Number>
struct IterationSpace {
  std::vector<std::string> names;
  std::vector<Number> extents;
  std::vector<Derivation> derivations;  // in the order of the schedule: parents before their children

  int size() const { return static_cast<int>(names.size()); }
};

// The space of a nest. `extents` has the extents of the statement's own variables.
IterationSpace<IntExpr> make_space(const std::vector<IndexVar>& variables,
                                   const std::map<std::string, IntExpr>& extents,
                                   const std::vector<Relation>& relations);

// Adds parent = outer * size + inner; returns the numbers of outer and inner.
std::pair<int, int> add_tile(IterationSpace<IntExpr>& space, int parent, const std::string& outer,
                             const std::string& inner, const IntExpr& size);

int find_variable(const IterationSpace<IntExpr>& space, const std::string& name);

// The variables whose value a derivation computes from its other variables.
std::vector<int> recovered_by(const Derivation& derivation);

// Which variables are recovered from others. The rest are loops.
std::vector<bool> recovered_variables(const std::vector<Derivation>& derivations, int variables);

// Which variables the value of `variable` depends on: itself, and all that it is recovered from.
std::vector<bool> recovered_from(const std::vector<Derivation>& derivations, int variables, int variable);

// Which variables the values of `known` determine, in the direction from parents to children: a split variable
// determines both of its children.
std::vector<bool> determined_by(const std::vector<Derivation>& derivations, std::vector<bool> known);

// Which variables `variable` was made from by split, divide, collapse and rotate. The loops that a rotation rotates by
// do not count: they change the order of the iterations, not the set.
std::vector<bool> made_from(const std::vector<Derivation>& derivations, int variables, int variable);

IterationSpace<int64_t> evaluate(const IterationSpace<IntExpr>& space, const Bindings& params);

}  // namespace distal::core
