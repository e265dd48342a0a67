#pragma once

#include <string>
#include <vector>

#include "plan/cost.h"

namespace distal::core {

// An index that cuts the work and that a tensor does not have. The processors along this cut need the same tile of the
// tensor, or add to the same tile.
struct SharedIndex {
  std::string index;
  int64_t processors = 1;

  bool operator==(const SharedIndex&) const = default;
};

// Why a statement moves bytes of a tensor.
struct Cause {
  std::string statement;
  std::string tensor;
  bool is_output = false;
  bool copies_replicas = false;  // an output with several replicas: each element goes to all of them
  int64_t bytes = 0;
  int64_t messages = 0;
  std::vector<SharedIndex> shared{};  // empty: its format differs from the tiles of the work
};

// The causes for every tensor that moves, statement by statement.
std::vector<Cause> causes_of(const Plan& plan, const PlanCost& cost);

// The cause in words.
std::string cause_text(const Cause& cause);
// The same for a tensor: the cut indices if there are any, otherwise the format.
std::string cause_text(const std::string& tensor, bool is_output, const std::vector<SharedIndex>& shared);

}  // namespace distal::core
