#pragma once

#include <optional>
#include <vector>

#include "lang/module.h"

namespace distal::core {

// A way to compute a statement in parts: parts of its products go into workspaces first.
struct Split {
  std::vector<Tensor> workspaces;    // their formats are free
  std::vector<Command> precomputes;  // one for each workspace
  double flops = 0;                  // of all kernels
  double elements = 0;               // that they read and write
};

// The statement as a whole, and then the best ways to split its products into parts, by flops and by elements read and
// written (contraction_orders). If several terms sum over the same index, the statement itself sums over it. Workspaces
// lie on `machine`.
std::vector<Split> splits_of(const Module& module, const Statement& statement, const Bindings& params,
                             const std::optional<Machine>& machine);

// The parts of a split statement, in their order: the products that go into workspaces, and then the rest of the
// statement. `module` has the workspaces.
std::vector<Statement> parts_of(const Module& module, const Statement& statement, const Split& split);

}  // namespace distal::core
