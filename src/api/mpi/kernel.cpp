#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <chrono>
#include <map>

#include "api/kernel_state.h"
#include "distal/mpi.h"
#include "engine/mpi/engine.h"
#include "engine/processes.h"

namespace distal {

namespace {

void require_threads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level >= MPI_THREAD_SERIALIZED) return;
  throw Error("MPI was initialised for one thread, and DISTAL has another one that drives messages", {},
              "call MPI_Init_thread with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE", Error::Kind::Resources);
}

MPI_Comm checked(MPI_Comm communicator) {
  require_threads();
  return communicator;
}

core::MpiOptions mpi_options(const RunOptions& options) {
  core::MpiOptions out;
  out.threads = options.threads;
  out.share = false;
  return out;
}

// What a kernel computes under the values of its params. Names do not matter, as ranks that did other things before may
// have made up others: words are told by when they first come.
std::string told_to(const BuiltModule& built, const Prepared& prepared) {
  core::Module module = built.module;
  module.params.clear();  // with the values that they had once
  std::map<std::string, size_t> numbers;
  std::string out, word;
  for (char c : core::to_string(module) + "\n") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
      continue;
    }
    bool is_name = !word.empty() && !std::isdigit(static_cast<unsigned char>(word[0]));
    out += is_name ? fmt::format("#{}", numbers.try_emplace(word, numbers.size()).first->second) : word;
    out += c;
    word.clear();
  }
  return out + fmt::format("{}", fmt::join(prepared.values, " "));
}

}  // namespace

struct MpiKernel::State {
  State(const Kernel& of, MPI_Comm communicator) : kernel(of.state_), cluster(checked(communicator), true) {
    require_same_on_all();
    spread();
  }

  void require_same_on_all() {
    std::shared_ptr<const Prepared> prepared = kernel->prepare();
    if (told_for != prepared) {
      told = told_to(kernel->built, *prepared);
      told_for = prepared;
    }
    core::require_same(cluster, "the statements and params", told);
  }

  // Leaves each tensor the pieces of this rank's processors.
  std::shared_ptr<const Prepared> spread() {
    std::shared_ptr<const Prepared> prepared = kernel->prepare();
    here.clear();
    for (int rank : core::processes_of_processors(prepared->plan, cluster.ranks())) {
      here.push_back(rank == cluster.rank());
    }
    for (const auto& t : kernel->built.tensors) t->keep_only(here);
    return prepared;
  }

  void make_engine(const std::shared_ptr<const Prepared>& prepared, const RunOptions& options) {
    bool same = engine && made_for == prepared && made_with.threads == options.threads &&
                made_with.strict_order == options.strict_order;
    if (same) return;
    engine = nullptr;
    made_for = prepared;
    made_with = options;
    auto pieces = std::vector<std::shared_ptr<core::TensorPieces>>(prepared->plan.tensors.size());
    engine = std::make_unique<core::MpiEngine>(prepared->plan, cluster, mpi_options(options),
                                               std::make_unique<core::TensorStore>(prepared->plan, std::move(pieces)));
    engine->use_leaves(shared_leaves(kernel->leaves_for(options)));
  }

  RunReport run(const RunOptions& options) {
    if (options.own_memory) throw Error("own_memory is of the threads engine; ranks have memory of their own");
    require_same_on_all();
    make_engine(spread(), options);
    for (size_t t = 0; t < kernel->built.tensors.size(); ++t) {
      engine->store().hold(static_cast<int>(t), kernel->built.tensors[t]->shared_pieces());
    }
    auto start = std::chrono::steady_clock::now();
    core::RunCounts counts = engine->run();
    double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    MPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_DOUBLE, MPI_MAX, cluster.all());
    engine->store().let_go();
    return {taken, counts.bytes_moved, counts.bytes_copied, counts.messages};
  }

  std::shared_ptr<Kernel::State> kernel;
  core::Cluster cluster;
  std::string told;
  std::shared_ptr<const Prepared> told_for;
  std::vector<bool> here;  // by processor: is it this rank's
  std::shared_ptr<const Prepared> made_for;
  RunOptions made_with;
  std::unique_ptr<core::MpiEngine> engine;
};

MpiKernel::MpiKernel(const Kernel& kernel, MPI_Comm communicator)
    : state_(std::make_shared<State>(kernel, communicator)) {}

std::vector<int64_t> MpiKernel::processors() const {
  state_->spread();
  std::vector<int64_t> out;
  for (size_t p = 0; p < state_->here.size(); ++p) {
    if (state_->here[p]) out.push_back(static_cast<int64_t>(p));
  }
  return out;
}

RunReport MpiKernel::run(const RunOptions& options) { return state_->run(options); }

}  // namespace distal
