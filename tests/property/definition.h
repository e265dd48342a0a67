#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace distal::core::property {

// Owners and bytes moved, element by element as the definition says, without the compiler's rectangles.

// The processors that own each element of a tensor, in processor order; elements in row-major order.
using Owners = std::vector<std::vector<int64_t>>;

Owners owners_by_definition(const Tensor& tensor, const Bindings& params);

// Bytes moved, by tensor: elements that a place acquires and does not have, elements that it sends home, and copies to
// further replicas. Takes from the plan only which place acquires which rectangles at which step.
std::map<std::string, int64_t> bytes_by_definition(const Plan& plan, const std::map<std::string, Owners>& owners);

}  // namespace distal::core::property
