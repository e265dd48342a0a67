#include "leaf/where.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "leaf/nest.h"
#include "plan/workspace.h"

namespace distal::core {

namespace {

class WhereLeaf : public LeafKernel {
 public:
  WhereLeaf(const LeafTask& task, ElementType type, std::vector<std::unique_ptr<LeafKernel>> kernels)
      : stage_(*task.stage),
        leaf_(leaf_of(*task.stage->stage)),
        parts_(*task.part->parts()),
        loops_(task.loops),
        element_bytes_(size_of(type)),
        kernels_(std::move(kernels)) {
    for (const Workspace& w : leaf_.workspaces) {
      layouts_.push_back(
          {space_for(stage_.space, w.indices), workspace_bytes(stage_, w, element_bytes_), moves_with_loops(w)});
    }
  }

  void run(const LeafArguments& arguments) const override {
    LeafArguments inner = arguments;
    if (inner.operands.size() == leaf_.accesses.size()) add_workspaces(inner);
    std::vector<Interval<int64_t>> intervals;
    for (const LeafPart& part : parts_) {
      if (part.fills) move_workspace(static_cast<size_t>(*part.fills), inner, intervals);
    }
    loop(inner, intervals, 0);
  }

  std::string description() const override {
    std::vector<std::string> names;
    for (const auto& kernel : kernels_) names.push_back(kernel->description());
    return fmt::format("{}", fmt::join(names, ", then "));
  }

 private:
  void add_workspaces(LeafArguments& inner) const {
    std::byte* at = inner.scratch;
    for (const Workspace& w : leaf_.workspaces) {
      std::vector<int64_t> extents = workspace_extents(stage_, w);
      View view{at, 0, {}};
      view.strides.resize(extents.size());
      int64_t volume = 1;
      for (size_t d = extents.size(); d-- > 0;) {
        view.strides[d] = volume;
        volume *= extents[d];
      }
      inner.operands.push_back(view);
      at += layouts_[static_cast<size_t>(&w - leaf_.workspaces.data())].bytes;
    }
  }

  void loop(LeafArguments& inner, std::vector<Interval<int64_t>>& intervals, size_t depth) const {
    if (depth == loops_.size()) return run_parts(inner, intervals);
    for (int64_t x = 0; x < stage_.space.extents[loops_[depth]]; ++x) {
      inner.values[loops_[depth]] = x;
      loop(inner, intervals, depth + 1);
    }
    inner.values[loops_[depth]] = 0;
  }

  void run_parts(LeafArguments& inner, std::vector<Interval<int64_t>>& intervals) const {
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p].fills) {
        auto w = static_cast<size_t>(*parts_[p].fills);
        if (layouts_[w].moves) move_workspace(w, inner, intervals);
        std::memset(inner.operands[leaf_.accesses.size() + w].data, 0, static_cast<size_t>(layouts_[w].bytes));
      }
      kernels_[p]->run(inner);
    }
  }

  bool moves_with_loops(const Workspace& w) const {
    for (int index : w.indices) {
      std::vector<bool> from = recovered_from(stage_.space.derivations, stage_.space.size(), index);
      if (std::any_of(loops_.begin(), loops_.end(), [&](int loop) { return from[loop]; })) return true;
    }
    return false;
  }

  // Sets the offset of a workspace for the present iteration. Kernels address it by the indices of the whole tensor, so
  // the first element that its producer touches now gets offset 0. If an index is past its end, nothing is touched.
  void move_workspace(size_t w, LeafArguments& inner, std::vector<Interval<int64_t>>& intervals) const {
    const Workspace& workspace = leaf_.workspaces[w];
    intervals.resize(inner.values.size());
    for (size_t v = 0; v < inner.values.size(); ++v) intervals[v] = point(inner.values[v]);
    for (int v : workspace.producer_loops) intervals[v] = full(stage_.space.extents[v]);
    View& view = inner.operands[leaf_.accesses.size() + w];
    view.offset = 0;
    if (!bounds(layouts_[w].space, intervals)) return;
    for (size_t d = 0; d < workspace.indices.size(); ++d) {
      view.offset -= intervals[workspace.indices[d]].lo * view.strides[d];
    }
  }

  const StagePlan& stage_;
  const Leaf& leaf_;
  const std::vector<LeafPart>& parts_;
  std::vector<int> loops_;
  int64_t element_bytes_;
  std::vector<std::unique_ptr<LeafKernel>> kernels_;
  struct WorkspaceLayout {
    IterationSpace<int64_t> space;  // of its indices
    int64_t bytes;
    bool moves;  // its first element depends on the loops
  };
  std::vector<WorkspaceLayout> layouts_;
};

}  // namespace

std::unique_ptr<LeafKernel> make_where_leaf(const LeafTask& task, ElementType type,
                                            std::vector<std::unique_ptr<LeafKernel>> parts) {
  return std::make_unique<WhereLeaf>(task, type, std::move(parts));
}

}  // namespace distal::core
