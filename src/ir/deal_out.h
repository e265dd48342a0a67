#pragma once

#include <optional>
#include <vector>

#include "ir/relation.h"

namespace distal::core {

// The loops that a loop becomes when its iterations are dealt out over a dimension of the machine.
struct DealtLoops {
  IndexVar coordinate;  // of the machine dimension
  IndexVar inside;      // within a block
  struct Cyclic {
    IndexVar number, round;  // of the block; number = (round, coordinate)
    IntExpr block;           // the size
  };
  std::optional<Cyclic> cyclic;  // none: one block per coordinate
};

// Appends the relations that deal `target` out over the `parts` coordinates of a machine dimension. They mean what
// lang/block_cyclic.h says: the rounds and `inside` together run over a piece.
void deal_out(const IndexVar& target, const DealtLoops& loops, const IntExpr& parts, int level, int dimension,
              std::vector<Relation>& relations);

}  // namespace distal::core
