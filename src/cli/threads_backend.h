#pragma once

#include <memory>
#include <vector>

#include "cli/backend.h"
#include "engine/threads/engine.h"

namespace distal::core {

// A backend that runs the plan on the threads of this process. It verifies the plan and allocates its memory.
// `other_bytes` is the memory that the caller needs besides.
std::unique_ptr<Backend> make_threads_backend(const Plan& plan, const MakeLeaves& make_leaves, ThreadsOptions options,
                                              int64_t other_bytes);

}  // namespace distal::core
