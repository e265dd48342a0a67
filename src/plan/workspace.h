#pragma once

#include <vector>

#include "plan/plan.h"

namespace distal::core {

// The extents of a workspace: in each dimension, the span of coordinates that the loops of its producer run over.
std::vector<int64_t> workspace_extents(const StagePlan& stage, const Workspace& workspace);
int64_t workspace_bytes(const StagePlan& stage, const Workspace& workspace, int64_t element_bytes);

// The bytes of all workspaces of the stage's leaf, on each processor that runs it.
int64_t workspace_bytes(const StagePlan& stage, int64_t element_bytes);

}  // namespace distal::core
