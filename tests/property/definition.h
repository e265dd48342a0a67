#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace distal::core::property {

// Who owns what and what moves, element by element from the words of the definition, without the compiler's
// rectangles.

// The processors that own each element of a tensor, in processor order; elements in row-major order.
using Owners = std::vector<std::vector<int64_t>>;

Owners owners_by_definition(const Tensor& tensor, const Bindings& params);

// Bytes moved by tensor: what each place acquires and did not have, what it sends home, and the copies to further
// replicas. Takes from the plan only who acquires which rectangles when.
std::map<std::string, int64_t> bytes_by_definition(const Plan& plan, const std::map<std::string, Owners>& owners);

}  // namespace distal::core::property
