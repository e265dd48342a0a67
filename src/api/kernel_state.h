#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "api/buffers.h"
#include "api/found.h"
#include "api/module_builder.h"
#include "distal/kernel.h"
#include "lower/compile.h"
#include "session/session.h"

namespace distal {

inline core::SessionOptions session_options(const RunOptions& options) {
  return {options.threads, options.own_memory,
          options.strict_order ? core::LeafChoice::Strict : core::LeafChoice::Automatic};
}

// Ends a session. In a forked child a session of its parent stays as it is: waiting for the end of its threads, which
// do not exist there, would take forever.
struct EndSession {
  void operator()(core::Session* session) const {
    if (session->is_of_this_process()) delete session;
  }
};
using SessionPtr = std::unique_ptr<core::Session, EndSession>;

// What the copies of a kernel share.
struct Kernel::State {
  BuiltModule built;
  std::shared_ptr<const core::Program> program;
  std::mutex mutex;
  std::shared_ptr<core::PreparedProgram> prepared;
  std::vector<int64_t> values;  // of the params that it was prepared for
  ApartCheck apart;
  std::vector<SessionPtr> idle;                          // at most as many as ever ran at once
  std::vector<std::shared_ptr<TensorState>> workspaces;  // of schedules that were found

  // With `find`, finds what the statements leave out; without it, they stay as written.
  explicit State(std::vector<DefinedTensor> defined, const FindModule& find = {}) {
    BuiltModule made = build_module(std::move(defined));
    if (find && leaves_something_out(made)) made = build_module(with_found(made, find, workspaces));
    compile(std::move(made));
  }

  void compile(BuiltModule made) {
    program = core::compile(made.module);
    built = std::move(made);
    prepared = nullptr;
  }

  // Compiles again if a tensor was redistributed. If the kernel cannot be compiled for the new format, it stays stale.
  void refresh() {
    std::lock_guard lock(mutex);
    refresh_locked();
  }

  std::shared_ptr<core::PreparedProgram> prepare() {
    std::lock_guard lock(mutex);
    prepare_locked();
    return prepared;
  }

  // Takes an idle session for the current params, or makes one, and gives it the current pieces of the tensors.
  SessionPtr take(const RunOptions& options) {
    std::lock_guard lock(mutex);
    prepare_locked();
    for (const auto& t : built.tensors) require_whole(*t, "a Kernel runs in one process; run its MpiKernel");
    SessionPtr session = take_idle(session_options(options));
    for (size_t t = 0; t < built.tensors.size(); ++t) {
      session->store().set_pieces(static_cast<int>(t), built.tensors[t]->shared_pieces());
      built.tensors[t]->used();
    }
    apart.require(prepared->plan(), built.tensors);
    return session;
  }

  void put_back(SessionPtr session) {
    session->store().release_pieces();
    std::lock_guard lock(mutex);
    idle.push_back(std::move(session));
  }

 private:
  void refresh_locked() {
    if (is_stale(built)) compile(build_module(built.defined));
  }

  void prepare_locked() {
    refresh_locked();
    if (prepared && has_current_values()) return;
    auto made = std::make_shared<core::PreparedProgram>(program, values_of(built.module, built.params));
    values.clear();
    for (const auto& p : built.params) values.push_back(p->value);
    apart = {};
    prepared = std::move(made);
  }

  bool has_current_values() const {
    for (size_t p = 0; p < values.size(); ++p) {
      if (built.params[p]->value != values[p]) return false;
    }
    return true;
  }

  // Drops idle sessions of other params or options: they will not be needed soon, and hold memory and threads.
  SessionPtr take_idle(const core::SessionOptions& options) {
    while (!idle.empty()) {
      SessionPtr last = std::move(idle.back());
      idle.pop_back();
      if (last->is_for(prepared, options)) return last;
    }
    SessionPtr made(new core::Session(prepared, options));
    made->use_given_pieces();
    return made;
  }
};

}  // namespace distal
