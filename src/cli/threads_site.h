#pragma once

#include <memory>
#include <vector>

#include "cli/site.h"
#include "engine/threads/engine.h"

namespace distal::core {

// Verifies the plan and takes memory for it; `other_bytes` are held beside.
std::unique_ptr<Site> threads_site(const Plan& plan, const MakeLeaves& make_leaves, ThreadsOptions options,
                                   int64_t other_bytes);

}  // namespace distal::core
