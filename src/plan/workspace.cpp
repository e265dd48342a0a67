#include "plan/workspace.h"

#include <algorithm>

#include "support/checked.h"

namespace distal::core {

namespace {

constexpr int64_t kAlignment = 64;  // of each workspace, for vector loads

// By variable: the largest size of the interval that bounds analysis can give it while `loops` run and all other loops
// are fixed.
std::vector<int64_t> spans(const IterationSpace<int64_t>& space, const std::vector<int>& loops) {
  std::vector<int64_t> span(space.extents.size(), 1);
  for (int loop : loops) span[loop] = space.extents[loop];
  for (auto d = space.derivations.rbegin(); d != space.derivations.rend(); ++d) {
    std::visit([&](const auto& r) { r.span(space.extents, span); }, *d);
  }
  return span;
}

}  // namespace

std::vector<int64_t> workspace_extents(const StagePlan& stage, const Workspace& workspace) {
  std::vector<int64_t> out;
  std::vector<int64_t> span = spans(stage.space, workspace.producer_loops);
  for (int index : workspace.indices) out.push_back(span[index]);
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
