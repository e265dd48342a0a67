#include "api/prepared.h"

#include <chrono>

#include "lang/validate.h"
#include "lower/compile.h"
#include "plan/verify.h"
#include "support/available_memory.h"

namespace distal {

// All engines with the same values of the params have them.
std::vector<std::unique_ptr<core::LeafKernel>> shared_leaves(const Leaves& leaves) {
  std::vector<std::unique_ptr<core::LeafKernel>> out;
  for (const auto& leaf : leaves) out.push_back(std::make_unique<core::SharedLeaf>(leaf));
  return out;
}

std::shared_ptr<Prepared> prepare(const BuiltModule& built, const std::shared_ptr<const core::Program>& program) {
  core::Bindings params = values_of(built.params);
  core::validate(program->module, params);
  auto made = std::make_shared<Prepared>();
  for (const auto& p : built.params) made->values.push_back(p->value);
  made->plan = core::make_plan(program, params);
  made->own = core::memory_needs(made->plan, core::Reach::own());
  made->all = core::memory_needs(made->plan, core::Reach::all());
  core::verify(made->plan, made->own);
  return made;
}

const Leaves& Prepared::leaves_for(const RunOptions& options) {
  Leaves& wanted = options.strict_order ? strict_leaves : leaves;
  if (!wanted.empty()) return wanted;
  core::LeafChoice choice = options.strict_order ? core::LeafChoice::Strict : core::LeafChoice::Automatic;
  Leaves made;
  for (const core::StagePlan& stage : plan.stages) {
    made.push_back(core::make_leaf(stage, plan.program->module.type, choice));
  }
  wanted = std::move(made);
  return wanted;
}

bool has_current_values(const Prepared& prepared, const BuiltModule& built) {
  for (size_t p = 0; p < built.params.size(); ++p) {
    if (built.params[p]->value != prepared.values[p]) return false;
  }
  return true;
}

ReadyRun::ReadyRun(const std::shared_ptr<Prepared>& prepared, const RunOptions& options)
    : prepared_(prepared),
      options_(options),
      allocator_(prepared_->plan.processors),
      store_(prepared_->plan, std::vector<std::shared_ptr<core::TensorPieces>>(prepared_->plan.tensors.size())),
      engine_(prepared_->plan, prepared_->needs(options.own_memory), shared_leaves(prepared->leaves_for(options)),
              allocator_, store_, {options.threads, options.own_memory}) {}

bool ReadyRun::is_for(const std::shared_ptr<const Prepared>& prepared, const RunOptions& options) const {
  return prepared_ == prepared && options_.threads == options.threads && options_.own_memory == options.own_memory &&
         options_.strict_order == options.strict_order;
}

void ReadyRun::hold(const std::vector<std::shared_ptr<TensorState>>& tensors) {
  for (size_t t = 0; t < tensors.size(); ++t) {
    store_.set_pieces(static_cast<int>(t), tensors[t]->shared_pieces());
    tensors[t]->used();
  }
  apart_.require(prepared_->plan, tensors);
}

RunReport ReadyRun::run() {
  auto start = std::chrono::steady_clock::now();
  core::RunCounts counts = engine_.run();
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return {taken.count(),
          counts.bytes_moved,
          counts.bytes_copied,
          counts.messages,
          core::peak_with_pieces(allocator_, store_),
          core::resident_bytes()};
}

}  // namespace distal
