#include "cli/mpi/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/prepared_run.h"
#include "data/npy_writer.h"
#include "engine/mpi/engine.h"
#include "support/available_memory.h"
#include "support/text.h"

namespace distal::core {

namespace {

class MpiBackend : public Backend {
 public:
  MpiBackend(const Plan& plan, const Cluster& cluster, MpiOptions options, const MakeLeaves& make_leaves)
      : cluster_(cluster), group_(cluster), engine_(plan, cluster, options, available_memory()) {
    engine_.use_leaves(compile_once_per_node(make_leaves));
  }

  TensorStore& store() override { return engine_.store(); }
  void barrier() override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(cluster_.all(), &request);
    wait_patiently(request);
  }
  RunCounts run() override { return engine_.run(); }
  RunCounts run_stage(size_t stage) override { return engine_.run_stage(stage); }
  bool has_all_pieces() const override { return false; }
  bool is_local(int64_t processor) const override { return engine_.is_here(processor); }
  std::vector<std::byte> gather(int tensor, bool everywhere) override {
    return engine_.gather(tensor, everywhere ? MpiEngine::At::All : MpiEngine::At::Root);
  }
  bool is_reporter() const override { return cluster_.rank() == 0; }
  const ProcessGroup& group() const override { return group_; }
  CheckResult combined(const CheckResult& mine) override;
  std::string description() const override;
  int64_t peak_per_processor() const override { return engine_.peak_per_processor(); }
  int64_t resident_bytes() const override {
    int64_t bytes = core::resident_bytes();
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MAX, cluster_.all());
    return bytes;
  }

 private:
  // The first rank of each node compiles the leaves; then the other ranks find them in the cache.
  std::vector<std::unique_ptr<LeafKernel>> compile_once_per_node(const MakeLeaves& make_leaves) {
    bool first = cluster_.rank_in_node(cluster_.rank()) == 0;
    std::vector<std::unique_ptr<LeafKernel>> leaves;
    agree_on_error(cluster_, [&] {
      if (first) leaves = make_leaves();
    });
    agree_on_error(cluster_, [&] {
      if (!first) leaves = make_leaves();
    });
    return leaves;
  }

  const Cluster& cluster_;
  ClusterGroup group_;
  MpiEngine engine_;
};

CheckResult MpiBackend::combined(const CheckResult& mine) {
  CheckResult all = mine;
  MPI_Allreduce(&mine.max_relative_error, &all.max_relative_error, 1, MPI_DOUBLE, MPI_MAX, cluster_.all());
  MPI_Allreduce(&mine.checked, &all.checked, 1, MPI_INT64_T, MPI_SUM, cluster_.all());
  int wrong = mine.ok ? cluster_.ranks() : cluster_.rank();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MIN, cluster_.all());
  all.ok = wrong == cluster_.ranks();
  if (!all.ok) broadcast_text(cluster_, wrong, all.first_wrong);
  return all;
}

std::string MpiBackend::description() const {
  std::string nodes = cluster_.nodes() == 1 ? "one node" : fmt::format("{} nodes", cluster_.nodes());
  std::string threads = engine_.threads() == 1 ? "one thread" : fmt::format("{} threads", engine_.threads());
  return fmt::format("{} on {}, {} each", counted(cluster_.ranks(), "MPI rank"), nodes, threads);
}

void require_fitting(const CliOptions& options, const Cluster& cluster) {
  if (options.ranks == 0 || options.ranks == cluster.ranks()) return;
  throw Error(fmt::format("--ranks {}, but the job has {}", options.ranks, counted(cluster.ranks(), "rank")), {},
              cluster.ranks() == 1 ? "`distal run` starts ranks only if no launcher has set a variable such as "
                                     "PMIX_RANK; otherwise start the ranks with mpirun, without --ranks"
                                   : "omit --ranks when mpirun starts the ranks");
}

int run_on_ranks(const CliOptions& options, const Cluster& cluster) {
  LoadedModule loaded;
  std::map<std::string, std::string> saved;
  agree_on_error(cluster, [&] {
    require_fitting(options, cluster);
    loaded = load_module(options);
    require_host(loaded.module, options.engine);
    require_options(options, loaded.module);
    saved = parse_files(options.save, "--save", loaded.module);
    if (cluster.rank() > 0) return;
    for (const auto& [tensor, file] : saved) require_writable(file);
  });
  std::string params;
  for (const auto& [name, value] : loaded.params) params += fmt::format(" {}={}", name, value);
  require_same(cluster, "the program and its params", to_string(loaded.module) + params);
  std::unique_ptr<RunInputs> inputs;
  agree_on_error(cluster, [&] { inputs = std::make_unique<RunInputs>(options, loaded); });
  require_same(cluster, "the data that --load read", fmt::format("{}", inputs->data.digest()));
  auto make_backend = [&](const Plan& plan, const MakeLeaves& make_leaves) {
    MpiOptions mpi{options.threads, cluster.shares()};
    mpi.extra_bytes = extra_bytes(plan, options, false);
    return std::make_unique<MpiBackend>(plan, cluster, mpi, make_leaves);
  };
  PreparedRun prepared(options, std::move(inputs), make_backend);
  prepared.run_all();
  for (const auto& [tensor, file] : saved) prepared.save(tensor, file);
  RunReport report = prepared.report();
  if (prepared.is_reporter()) print_report(report, options.json);
  return prepared.ok() ? 0 : 1;
}

// Returns the exit status of f. Rank 0 prints an error that all ranks agree on. An error on one rank only ends the job.
int exit_status_of(const Cluster& cluster, const std::function<int()>& f) {
  try {
    int status = 0;
    end_job_on_failure(cluster, [&] { status = f(); });
    return status;
  } catch (const AgreedError& e) {
    if (cluster.rank() == 0) fmt::print(stderr, "{}\n", e.what());
    return static_cast<int>(e.kind());
  }
}

}  // namespace

int main_of_ranks(int argc, const char* const* argv) {
  Cluster cluster(MPI_COMM_WORLD, may_share());
  return exit_status_of(cluster, [&] {
    // Compare the command lines before anything else: a rank with another command would leave the others waiting.
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    require_same(cluster, "the command-line arguments", fmt::format("{}", fmt::join(arguments, "\n")));
    RunOnMpi run = [&](const CliOptions& options) {
      return exit_status_of(cluster, [&] { return run_on_ranks(options, cluster); });
    };
    return main_command(argc, argv, run, cluster.rank() == 0);
  });
}

}  // namespace distal::core
