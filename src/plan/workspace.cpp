#include "plan/workspace.h"

#include <algorithm>

#include "support/checked.h"

namespace distal::core {

namespace {

constexpr int64_t kAlignment = 64;  // each workspace begins where vector loads like it

}  // namespace

std::vector<int64_t> workspace_extents(const StagePlan& stage, const Workspace& workspace) {
  std::vector<int64_t> out;
  for (int index : workspace.indices) {
    int64_t extent = stage.space.extents[index], run = 1;
    std::vector<bool> from = recovered_from(stage.space.derivations, stage.space.size(), index);
    for (int loop : workspace.runs) {
      if (from[loop] && run < extent) run = checked_mul(run, stage.space.extents[loop]);
    }
    out.push_back(std::min(extent, run));
  }
  return out;
}

int64_t workspace_bytes(const StagePlan& stage, const Workspace& workspace, int64_t element_bytes) {
  int64_t bytes = element_bytes;
  for (int64_t extent : workspace_extents(stage, workspace)) bytes = checked_mul(bytes, extent);
  return checked_mul(ceil_div(bytes, kAlignment), kAlignment);
}

int64_t workspace_bytes(const StagePlan& stage, int64_t element_bytes) {
  int64_t bytes = 0;
  for (const Workspace& w : leaf_of(*stage.stage).workspaces) {
    bytes = checked_add(bytes, workspace_bytes(stage, w, element_bytes));
  }
  return bytes;
}

}  // namespace distal::core
