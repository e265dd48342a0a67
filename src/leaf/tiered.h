#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "leaf/leaf.h"

namespace distal::core {

// Runs `first`, which costs nothing to make but much to run, `points` at a time; once it has walked more than
// `allowance` of them, `then` makes what is run from there on. A program that runs a tiny leaf a million times waits at
// most twice as long as one that knew so from the start. If `then` throws, as without a compiler, `first` stays.
std::unique_ptr<LeafKernel> make_tiered_leaf(std::unique_ptr<LeafKernel> first, double points, double allowance,
                                             std::function<std::unique_ptr<LeafKernel>()> then);

}  // namespace distal::core
