#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lang/machine.h"

namespace distal::core {

// What a machine dimension does with a tensor (the right side of "xy -> x0*").
struct Partition {
  std::string name;  // the tensor dimension that it cuts
  bool operator==(const Partition&) const = default;
};
struct Fix {
  IntExpr face;  // the one coordinate at which the tensor lives
  bool operator==(const Fix&) const = default;
};
struct Broadcast {
  bool operator==(const Broadcast&) const = default;
};
struct MachineDimension {
  std::variant<Partition, Fix, Broadcast> role;
  SourceSpan span;
  bool operator==(const MachineDimension&) const = default;
};

// Tensor distribution notation for one level of a machine: X -> Y, and the block size of every tensor dimension
// that is dealt out cyclically instead of in one block per processor.
struct LevelDistribution {
  // Where a text has its parts; a program made in C++ has none.
  struct Places {
    SourceSpan left, right;                    // of the arrow
    std::vector<SourceSpan> names;             // the tensor dimensions
    std::map<std::string, SourceSpan> cyclic;  // the names in cyclic(...)
    bool operator==(const Places&) const { return true; }

    const SourceSpan& name(size_t dimension, const SourceSpan& otherwise) const {
      return dimension < names.size() ? names[dimension] : otherwise;
    }
    const SourceSpan& cyclic_name(const std::string& name, const SourceSpan& otherwise) const {
      auto found = cyclic.find(name);
      return found == cyclic.end() ? otherwise : found->second;
    }
  };

  std::vector<std::string> tensor_dimensions;        // X, one name per tensor dimension
  std::vector<MachineDimension> machine_dimensions;  // Y, one role per machine dimension
  std::map<std::string, IntExpr> cyclic;             // tensor dimension name -> block size
  SourceSpan span;
  Places places{};
  bool operator==(const LevelDistribution&) const = default;

  // The tensor dimension that a machine dimension cuts, and its block size; none: one block per coordinate. What both
  // mean is in block_cyclic.h.
  size_t dimension_of(const Partition& partition) const;
  std::optional<IntExpr> block_of(const Partition& partition) const;
};

// One LevelDistribution per machine level, outermost first.
struct Distribution {
  std::vector<LevelDistribution> levels;
  bool operator==(const Distribution&) const = default;
};

std::string to_string(const LevelDistribution& level);
std::string to_string(const Distribution& distribution);

}  // namespace distal::core
