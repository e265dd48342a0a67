#include "distal/kernel.h"

#include <mutex>

#include "api/module_builder.h"
#include "api/prepared.h"
#include "lower/compile.h"
#include "plan/cost.h"
#include "plan/print.h"

namespace distal {

struct Kernel::State {
  BuiltModule built;
  std::shared_ptr<const core::Program> program;
  std::mutex mutex;
  std::shared_ptr<Prepared> prepared;
  std::vector<std::unique_ptr<ReadyRun>> idle;  // at most as many as ever ran at once

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
    refresh_locked();
  }

  std::shared_ptr<const Prepared> prepare() {
    std::lock_guard lock(mutex);
    prepare_locked();
    return prepared;
  }

  // An engine for the params and the data of now, that nobody else uses.
  std::unique_ptr<ReadyRun> take(const RunOptions& options) {
    std::lock_guard lock(mutex);
    prepare_locked();
    std::unique_ptr<ReadyRun> ready = take_idle(options);
    if (!ready) ready = std::make_unique<ReadyRun>(prepared, options);
    ready->hold(built.tensors);
    return ready;
  }

  void put_back(std::unique_ptr<ReadyRun> ready) {
    ready->let_go();
    std::lock_guard lock(mutex);
    idle.push_back(std::move(ready));
  }

 private:
  void refresh_locked() {
    if (is_stale(built)) compile(built.defined);
  }

  void prepare_locked() {
    refresh_locked();
    if (!prepared || !has_current_values(*prepared, built)) prepared = distal::prepare(built, program);
  }

  // One that was made for something else will not be asked for soon, and holds memory and threads.
  std::unique_ptr<ReadyRun> take_idle(const RunOptions& options) {
    while (!idle.empty()) {
      std::unique_ptr<ReadyRun> last = std::move(idle.back());
      idle.pop_back();
      if (last->is_for(prepared, options)) return last;
    }
    return nullptr;
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
  std::unique_ptr<ReadyRun> ready = state_->take(options);
  RunReport report = ready->run();
  state_->put_back(std::move(ready));
  return report;
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
