#pragma once

#include <vector>

#include "plan/plan.h"

namespace distal::core {

// How much a workspace has to hold at once: in each dimension no more than its producer's loops run over.
std::vector<int64_t> workspace_extents(const StagePlan& stage, const Workspace& workspace);
int64_t workspace_bytes(const StagePlan& stage, const Workspace& workspace, int64_t element_bytes);

// Of all workspaces of the stage's leaf: what every processor that runs it holds beside its copies.
int64_t workspace_bytes(const StagePlan& stage, int64_t element_bytes);

}  // namespace distal::core
