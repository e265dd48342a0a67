#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "api/module_builder.h"
#include "api/prepared.h"
#include "lower/compile.h"

namespace distal {

// What the copies of a kernel share.
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

  // Takes an idle engine for the current params, or makes one.
  std::unique_ptr<ReadyRun> take(const RunOptions& options) {
    std::lock_guard lock(mutex);
    prepare_locked();
    for (const auto& t : built.tensors) require_whole(*t, "a Kernel runs in one process; run its MpiKernel");
    std::unique_ptr<ReadyRun> ready = take_idle(options);
    if (!ready) ready = std::make_unique<ReadyRun>(prepared, options);
    ready->hold(built.tensors);
    return ready;
  }

  const Leaves& leaves_for(const RunOptions& options) {
    std::lock_guard lock(mutex);
    prepare_locked();
    return prepared->leaves_for(options);
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

}  // namespace distal
