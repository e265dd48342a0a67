#include "distal/kernel.h"

#include <fmt/format.h>

#include <chrono>
#include <mutex>

#include "api/module_builder.h"
#include "engine/threads/engine.h"
#include "lang/validate.h"
#include "lower/compile.h"
#include "plan/cost.h"
#include "plan/print.h"
#include "plan/verify.h"

namespace distal {

namespace {

// Leaves are shared by all runs with the same values of the params.
class SharedLeaf : public core::LeafKernel {
 public:
  explicit SharedLeaf(std::shared_ptr<const core::LeafKernel> leaf) : leaf_(std::move(leaf)) {}
  void run(const core::LeafArguments& arguments) const override { leaf_->run(arguments); }
  std::string description() const override { return leaf_->description(); }

 private:
  std::shared_ptr<const core::LeafKernel> leaf_;
};

// Everything that depends on the values of the params and not on the data.
struct Prepared {
  core::Bindings params;
  core::Plan plan;
  core::MemoryNeeds own, all;  // by reach
  std::vector<std::shared_ptr<const core::LeafKernel>> leaves;
};

}  // namespace

struct Kernel::State {
  BuiltModule built;
  std::shared_ptr<const core::Program> program;
  std::mutex mutex;
  std::shared_ptr<const Prepared> prepared;

  explicit State(std::vector<DefinedTensor> defined) { compile(std::move(defined)); }

  void compile(std::vector<DefinedTensor> defined) {
    BuiltModule made = build_module(std::move(defined));
    program = core::compile(made.module);
    built = std::move(made);
    prepared = nullptr;
  }

  // A tensor that was redistributed is another one to the compiler. A kernel that cannot be compiled for it stays
  // stale.
  void refresh() {
    std::lock_guard lock(mutex);
    if (is_stale(built)) compile(built.defined);
  }

  std::shared_ptr<const Prepared> prepare() {
    refresh();
    core::Bindings params = values_of(built.params);
    std::lock_guard lock(mutex);
    if (prepared && prepared->params == params) return prepared;
    core::validate(program->module, params);
    auto made = std::make_shared<Prepared>();
    made->params = params;
    made->plan = core::make_plan(program, params);
    made->own = core::memory_needs(made->plan, core::Reach::Own);
    made->all = core::memory_needs(made->plan, core::Reach::All);
    core::verify(made->plan, made->own);
    for (const core::StagePlan& stage : made->plan.stages) {
      made->leaves.push_back(core::make_leaf(stage, built.module.type, core::LeafChoice::Automatic));
    }
    prepared = made;
    return made;
  }
};

Kernel::Kernel(const std::vector<TensorHandle>& tensors) {
  if (tensors.empty()) throw Error("a kernel needs at least one defined tensor");
  std::vector<DefinedTensor> all;
  for (const TensorHandle& t : tensors) all.push_back(defined(t.state()));
  state_ = std::make_shared<State>(std::move(all));
}

Kernel TensorHandle::copy_kernel(const TensorHandle& source) const {
  return Kernel(std::make_shared<Kernel::State>(std::vector<DefinedTensor>{defined_as_copy(state_, source.state_)}));
}

RunReport Kernel::run(const RunOptions& options) const {
  std::shared_ptr<const Prepared> prepared = state_->prepare();
  std::vector<std::shared_ptr<core::TensorPieces>> pieces;
  for (const auto& t : state_->built.tensors) pieces.push_back(t->shared_pieces());
  core::TensorStore store(prepared->plan, std::move(pieces));
  core::Allocator allocator(prepared->plan.processors);
  std::vector<std::unique_ptr<core::LeafKernel>> leaves;
  for (const auto& leaf : prepared->leaves) leaves.push_back(std::make_unique<SharedLeaf>(leaf));
  core::ThreadsOptions threads{options.threads, options.own_memory};
  core::ThreadsEngine engine(prepared->plan, options.own_memory ? prepared->own : prepared->all, std::move(leaves),
                             allocator, store, threads);
  auto start = std::chrono::steady_clock::now();
  core::RunCounts counts = engine.run();
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return {taken.count(), counts.bytes_moved, counts.bytes_copied, counts.messages};
}

std::string Kernel::text() const {
  state_->refresh();
  return core::to_string(state_->built.module);
}

std::string Kernel::program() const {
  state_->refresh();
  return core::to_string(*state_->program);
}

std::string Kernel::plan() const { return core::to_string(state_->prepare()->plan); }

Cost Kernel::cost() const {
  core::Cost counted = core::count_cost(state_->prepare()->plan);
  Cost out;
  out.processors = counted.processors;
  out.flops = counted.flops;
  out.bytes_moved = counted.bytes_moved;
  out.bytes_by_level = counted.bytes_by_level;
  out.messages = counted.messages;
  out.max_bytes_received = counted.max_bytes_received;
  out.max_bytes_sent = counted.max_bytes_sent;
  out.peak_bytes_per_processor = counted.peak_bytes_per_processor;
  for (const auto& [name, t] : counted.tensors) out.tensors[name] = {t.bytes, t.messages, core::to_string(t.pattern)};
  return out;
}

}  // namespace distal
