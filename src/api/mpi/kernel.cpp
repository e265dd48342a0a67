#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "api/kernel_state.h"
#include "api/mpi/communicator.h"
#include "distal/mpi.h"
#include "engine/processes.h"
#include "lang/validate.h"
#include "schedule/expand_precomputes.h"
#include "session/mpi/session.h"
#include "support/available_memory.h"
#include "support/checked.h"
#include "tune/find_together.h"

namespace distal {

namespace {

// The program that a kernel runs for these values of its params.
std::string text_of(core::Module module, const core::Bindings& params) {
  std::string text;
  for (const core::Param& p : module.params) text += fmt::format("param {} = {}\n", p.name, params.at(p.name));
  module.params.clear();
  return text + core::to_string(module);
}

// The program that the first rank finds for all.
core::Module found_by_first(const core::Cluster& cluster, const std::vector<DefinedTensor>& defined,
                            const FindOptions& options) {
  BuiltModule built;
  core::Bindings params;
  core::FindOptions find;
  core::agree_on_error(cluster, [&] {
    built = build_module(defined);
    params = values_of(built.module, built.params);
    core::validate(core::expand_precomputes(built.module), params);
    find = to_core(options);
  });
  core::require_same(cluster, "the statements and params", text_of(built.module, params));
  return core::find_together(core::ClusterGroup(cluster), built.module, params, find).module;
}

}  // namespace

struct MpiKernel::State {
  State(const Kernel& of, MPI_Comm communicator)
      : kernel(of.state_), cluster(checked(communicator), core::may_share()) {
    core::end_job_on_failure(cluster, [&] { share_out(); });
  }

  State(const std::vector<TensorHandle>& tensors, MPI_Comm communicator, const FindOptions& find)
      : cluster(checked(communicator), core::may_share()) {
    core::end_job_on_failure(cluster, [&] {
      std::vector<DefinedTensor> all;
      core::agree_on_error(cluster, [&] { all = all_defined(tensors); });
      core::Module found = found_by_first(cluster, all, find);
      core::agree_on_error(cluster, [&] {
        kernel = std::make_shared<Kernel::State>(all, [&](const auto&, const auto&) { return found; });
      });
      share_out();
    });
  }

  void share_out() {
    require_same_on_all({});
    core::agree_on_error(cluster, [&] { spread(); });
  }

  void require_same_on_all(const RunOptions& options) {
    core::agree_on_error(cluster, [&] {
      if (options.own_memory) throw Error("own_memory is of the threads engine; ranks have memory of their own");
      session_options(options).require_valid();
      std::shared_ptr<core::PreparedProgram> prepared = kernel->prepare();
      if (text_for == prepared) return;
      core::require_host(prepared->plan().program->module, "mpi");
      text = text_of(kernel->built.module, prepared->plan().params);
      text_for = prepared;
    });
    core::require_same(cluster, "the statements, params and options",
                       text + (options.strict_order ? "in strict order" : "in any order"));
  }

  // Leaves each tensor the pieces of this rank's processors.
  std::shared_ptr<core::PreparedProgram> spread() {
    std::shared_ptr<core::PreparedProgram> prepared = kernel->prepare();
    if (session && session->prepared() != prepared) session->close();
    ranks = core::processes_of_processors(prepared->plan(), cluster.ranks());
    std::vector<bool> here;
    for (int rank : ranks) here.push_back(rank == cluster.rank());
    for (const auto& t : kernel->built.tensors) t->keep_only(here, cluster.ranks_on_node() > 1);
    return prepared;
  }

  // Makes the pieces of this rank's processors, if all ranks of its machine have memory for theirs. A rank may already
  // have pieces of another kernel, or a buffer that is refused.
  std::shared_ptr<core::PreparedProgram> place_pieces() {
    std::shared_ptr<core::PreparedProgram> prepared;
    int64_t missing = 0;
    core::agree_on_error(cluster, [&] {
      prepared = spread();
      for (const auto& t : kernel->built.tensors) missing = core::checked_add(missing, t->missing_bytes());
      if (missing == 0) apart.require(prepared->plan(), kernel->built.tensors);
    });
    if (core::all_true(cluster.all(), missing == 0)) return prepared;  // the case of most runs
    core::require_machine_memory(cluster, missing, core::available_memory());
    core::agree_on_error(cluster, [&] {
      for (const auto& t : kernel->built.tensors) t->shared_pieces();
      apart.require(prepared->plan(), kernel->built.tensors);
    });
    return prepared;
  }

  // The session for these options, with the current pieces of the tensors.
  void make_ready(const std::shared_ptr<core::PreparedProgram>& prepared, const core::SessionOptions& options) {
    if (!core::all_true(cluster.all(), session && session->is_for(prepared, options))) {
      session = nullptr;
      session = std::make_unique<core::MpiSession>(prepared, cluster, options);
    }
    std::vector<core::HeldTensor> tensors;
    for (const auto& t : kernel->built.tensors) {
      tensors.push_back({t->shared_pieces(), t->shared_memory()});
      t->used();
    }
    session->hold(tensors);
  }

  // Takes the pieces out of the session again, however the run ends.
  struct LetGo {
    core::MpiSession& session;
    ~LetGo() { session.let_go(); }
  };

  RunReport run(const RunOptions& options) {
    require_same_on_all(options);
    make_ready(place_pieces(), session_options(options));
    LetGo let_go{*session};
    auto start = std::chrono::steady_clock::now();
    session->watch(options.progress);
    core::RunCounts counts = session->run();
    std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - start;
    int64_t most[] = {taken.count(), session->peak_here(), core::resident_bytes()};
    MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_INT64_T, MPI_MAX, cluster.all());
    return {static_cast<double>(most[0]) * 1e-9,
            counts.bytes_moved,
            counts.bytes_copied,
            counts.messages,
            most[1],
            most[2]};
  }

  std::shared_ptr<Kernel::State> kernel;
  core::Cluster cluster;
  ApartCheck apart;
  std::string text;
  std::shared_ptr<core::PreparedProgram> text_for;
  std::vector<int> ranks;  // by processor
  std::unique_ptr<core::MpiSession> session;
};

MpiKernel::MpiKernel(const Kernel& kernel, MPI_Comm communicator)
    : state_(std::make_shared<State>(kernel, communicator)) {}

MpiKernel::MpiKernel(const std::vector<TensorHandle>& defined, MPI_Comm communicator, const FindOptions& find)
    : state_(std::make_shared<State>(defined, communicator, find)) {}

std::vector<int64_t> MpiKernel::processors() const {
  state_->spread();
  std::vector<int64_t> out;
  for (size_t p = 0; p < state_->ranks.size(); ++p) {
    if (state_->ranks[p] == state_->cluster.rank()) out.push_back(static_cast<int64_t>(p));
  }
  return out;
}

RunReport MpiKernel::run(const RunOptions& options) {
  RunReport report;
  core::end_job_on_failure(state_->cluster, [&] { report = state_->run(options); });
  return report;
}

}  // namespace distal
