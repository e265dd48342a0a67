#pragma once

#include <memory>
#include <vector>

#include "api/buffers.h"
#include "api/module_builder.h"
#include "distal/kernel.h"
#include "engine/threads/engine.h"

namespace distal {

using Leaves = std::vector<std::shared_ptr<const core::LeafKernel>>;  // by stage

// Everything of a kernel that depends on the values of the params and not on the data.
struct Prepared {
  std::vector<int64_t> values;  // of the params, in the module's order
  core::Plan plan;
  core::MemoryNeeds own, all;    // by reach
  Leaves leaves, strict_leaves;  // by the order of sums; empty until a run needs them

  const core::MemoryNeeds& needs(bool own_memory) const { return own_memory ? own : all; }
  // Makes them on first use; one thread at a time.
  const Leaves& leaves_for(const RunOptions& options);
};

// For an engine, which owns its leaves.
std::vector<std::unique_ptr<core::LeafKernel>> shared_leaves(const Leaves& leaves);

std::shared_ptr<Prepared> prepare(const BuiltModule& built, const std::shared_ptr<const core::Program>& program);
bool has_current_values(const Prepared& prepared, const BuiltModule& built);

// An engine with all it needs, for one run at a time. It is kept for the next, as it remembers what it did.
class ReadyRun {
 public:
  ReadyRun(const std::shared_ptr<Prepared>& prepared, const RunOptions& options);

  bool is_for(const std::shared_ptr<const Prepared>& prepared, const RunOptions& options) const;
  // Uses the current pieces of the tensors until let_go.
  void hold(const std::vector<std::shared_ptr<TensorState>>& tensors);
  void let_go() { store_.release_pieces(); }
  RunReport run();

 private:
  std::shared_ptr<const Prepared> prepared_;
  RunOptions options_;
  core::Allocator allocator_;
  core::TensorStore store_;
  core::ThreadsEngine engine_;
  ApartCheck apart_;
};

}  // namespace distal
