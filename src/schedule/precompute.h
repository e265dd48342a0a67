#pragma once

#include <optional>
#include <vector>

#include "lang/command.h"

namespace distal::core {

// The arguments of precompute: a part of the right side is computed into a workspace first. The loops `variables` run
// again in the producer, where they have the names `copies`.
struct Precompute {
  Expr expr;
  std::vector<IndexVar> variables, copies;
  Name workspace;
};

// Nothing for another command.
std::optional<Precompute> precompute_in(const Command& command);

}  // namespace distal::core
