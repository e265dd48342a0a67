#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "leaf/leaf.h"
#include "plan/memory.h"

namespace distal::core {

// A program at given values of its params: validated and planned. Memory needs and leaves are made at the first use,
// and kept. Several sessions may share it, also in several threads.
class PreparedProgram {
 public:
  // Throws an Error if the values do not suit the program.
  PreparedProgram(std::shared_ptr<const Program> program, const Bindings& params, PlanOptions options = {});
  // From a plan that was made elsewhere. If `leaves` is not empty, sessions run these leaves.
  explicit PreparedProgram(Plan plan, Leaves leaves = {});

  const Plan& plan() const { return plan_; }
  // The memory needs of a single process. The plan is verified with them. With own_memory no processor reads another's
  // memory in place.
  const MemoryNeeds& needs(bool own_memory);
  const Leaves& leaves(LeafChoice choice);

 private:
  const Plan plan_;
  const Leaves given_leaves_;
  std::mutex mutex_;
  std::array<std::optional<MemoryNeeds>, 2> needs_;  // by own_memory
  std::map<LeafChoice, Leaves> leaves_;
};

// Throws an Error if the program uses GPU processors or GPU memory, for an engine that runs on the host only.
void require_host(const Module& module, const std::string& engine);

// Throws an Error if a run needs more memory than the machine has.
void require_memory(int64_t need, int64_t have);

}  // namespace distal::core
