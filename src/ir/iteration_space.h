#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/relation.h"

namespace distal::core {

// How the variables of a statement derive from one another. Variables are numbered. `Number` is IntExpr in a Program,
// where sizes are symbolic, and int64_t in a Plan, where they are known; bounds analysis is a template over both.
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

int find_variable(const IterationSpace<IntExpr>& space, const std::string& name);
inline int number(const IterationSpace<IntExpr>& space, const IndexVar& v) { return find_variable(space, v.name); }
int add_variable(IterationSpace<IntExpr>& space, const IndexVar& v, const IntExpr& extent);

// The variables whose value a derivation computes from its other variables.
std::vector<int> recovered_by(const Derivation& derivation);

// Which variables are recovered from others. The rest are loops.
std::vector<bool> recovered_variables(const std::vector<Derivation>& derivations, int variables);

// Which variables the value of `variable` depends on: itself, and all that it is recovered from.
std::vector<bool> recovered_from(const std::vector<Derivation>& derivations, int variables, int variable);

// Whether a derivation can recover its parents: all that it computes them from is known.
bool is_ready(const Derivation& derivation, const std::vector<bool>& known);

// The known variables, and all that can be recovered from them.
std::vector<bool> with_recovered(const std::vector<Derivation>& derivations, std::vector<bool> known);

// Which variables the values of `known` determine, in the direction from parents to children: a split variable
// determines both of its children.
std::vector<bool> determined_by(const std::vector<Derivation>& derivations, std::vector<bool> known);

// Which variables `variable` was made from by split, divide, collapse and rotate. The loops that a rotation rotates by
// do not count: they change the order of the iterations, not the set.
std::vector<bool> made_from(const std::vector<Derivation>& derivations, int variables, int variable);

// Lines of C++ that compute the parents of a derivation, and the end that they may be past. `name` and `extent` give
// the text for a variable.
using VariableText = std::function<std::string(int)>;
std::vector<std::string> recovery_text(const Derivation& derivation, const VariableText& name,
                                       const VariableText& extent);
std::optional<Clip> clip_of(const Derivation& derivation);

IterationSpace<int64_t> evaluate(const IterationSpace<IntExpr>& space, const Bindings& params);

}  // namespace distal::core
