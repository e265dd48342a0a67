#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "leaf/leaf.h"

namespace distal::core {

// A leaf that runs `first`, which is cheap to make but slow, until it has computed more than `allowance` points; one
// run computes `points` of them. Then `make_second` makes the leaf for all further runs. So a program that runs a tiny
// leaf a million times takes at most twice as long as with the second leaf from the start. If `make_second` throws,
// because there is no compiler, `first` stays.
std::unique_ptr<LeafKernel> make_tiered_leaf(std::unique_ptr<LeafKernel> first, double points, double allowance,
                                             std::function<std::unique_ptr<LeafKernel>()> make_second);

}  // namespace distal::core
