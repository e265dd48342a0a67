#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program/program.h"

namespace distal::core {

// A loop of the nest after its machine dimension is known.
struct PlacedLoop {
  int variable = 0;
  bool distributed = false;
  int level = 0;  // of a distributed loop
  int dimension = 0;
  std::string name;  // of the user's loop; a round loop has the name of its distributed loop
};

// The nest on its machine. Every distributed loop has a machine dimension. If its extent is not that of the grid, it
// has become a round loop and a processor loop (it wraps round).
struct PlacedNest {
  Machine machine;
  IterationSpace<IntExpr> space;
  std::vector<PlacedLoop> loops;  // outermost first
  std::vector<HeldDimension> held;
  std::vector<EverywhereDimension> everywhere;

  int levels() const { return static_cast<int>(machine.levels.size()); }
  // The last position of the launch that the loop at `position` belongs to, rounds included; `position` itself for a
  // loop that is not distributed. All loops of one launch are equivalent places.
  int end_of_launch(int position) const;
};

PlacedNest place_nest(const Nest& nest, const Statement& statement, const std::map<std::string, IntExpr>& extents,
                      const std::optional<Machine>& machine, const std::vector<Param>& params);

}  // namespace distal::core
