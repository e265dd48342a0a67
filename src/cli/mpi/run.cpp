#include "cli/mpi/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/prepared_run.h"
#include "engine/mpi/engine.h"
#include "support/available_memory.h"

namespace distal::core {

namespace {

class MpiSite : public Site {
 public:
  MpiSite(const Plan& plan, const Cluster& cluster, MpiOptions options, const MakeLeaves& make_leaves)
      : cluster_(cluster), engine_(plan, cluster, options, available_memory()) {
    engine_.use_leaves(made_once_a_node(make_leaves));
  }

  TensorStore& store() override { return engine_.store(); }
  void meet() override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(cluster_.all(), &request);
    wait_patiently(request);
  }
  RunCounts run() override { return engine_.run(); }
  RunCounts run_stage(size_t stage) override { return engine_.run_stage(stage); }
  bool has_all_pieces() const override { return false; }
  bool is_here(int64_t processor) const override { return engine_.is_here(processor); }
  std::vector<std::byte> gather(int tensor, bool everywhere) override {
    return engine_.gather(tensor, everywhere ? MpiEngine::At::All : MpiEngine::At::Root);
  }
  bool speaks() const override { return cluster_.rank() == 0; }
  CheckResult of_all(const CheckResult& mine) override;
  std::string processors() const override;
  int64_t peak_per_processor() const override { return engine_.peak_per_processor(); }
  int64_t resident_bytes() const override {
    int64_t bytes = core::resident_bytes();
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MAX, cluster_.all());
    return bytes;
  }

 private:
  // The first rank of a node compiles, and the others find what it made in the cache.
  std::vector<std::unique_ptr<LeafKernel>> made_once_a_node(const MakeLeaves& make_leaves) {
    bool first = cluster_.rank_in_node(cluster_.rank()) == 0;
    std::vector<std::unique_ptr<LeafKernel>> leaves;
    together(cluster_, [&] {
      if (first) leaves = make_leaves();
    });
    together(cluster_, [&] {
      if (!first) leaves = make_leaves();
    });
    return leaves;
  }

  const Cluster& cluster_;
  MpiEngine engine_;
};

CheckResult MpiSite::of_all(const CheckResult& mine) {
  CheckResult all = mine;
  MPI_Allreduce(&mine.max_relative_error, &all.max_relative_error, 1, MPI_DOUBLE, MPI_MAX, cluster_.all());
  MPI_Allreduce(&mine.checked, &all.checked, 1, MPI_INT64_T, MPI_SUM, cluster_.all());
  int wrong = mine.ok ? cluster_.ranks() : cluster_.rank();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MIN, cluster_.all());
  all.ok = wrong == cluster_.ranks();
  if (!all.ok) broadcast_text(cluster_, wrong, all.first_wrong);
  return all;
}

std::string MpiSite::processors() const {
  std::string nodes = cluster_.nodes() == 1 ? "one node" : fmt::format("{} nodes", cluster_.nodes());
  std::string threads = engine_.threads() == 1 ? "one thread" : fmt::format("{} threads", engine_.threads());
  return fmt::format("{} MPI {} on {}, {} each", cluster_.ranks(), cluster_.ranks() == 1 ? "rank" : "ranks", nodes,
                     threads);
}

void require_fitting(const CliOptions& options, const Cluster& cluster) {
  if (options.ranks == 0 || options.ranks == cluster.ranks()) return;
  throw Error(fmt::format("--ranks {}, and the job has {}", options.ranks, cluster.ranks()), {},
              cluster.ranks() == 1 ? "`distal run` starts ranks where no starter has set variables such as PMIX_RANK; "
                                     "here mpirun does, without --ranks"
                                   : "leave --ranks away where mpirun starts the ranks");
}

int run_together(const CliOptions& options, const Cluster& cluster) {
  LoadedModule loaded;
  std::map<std::string, std::string> saved;
  together(cluster, [&] {
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
  together(cluster, [&] { inputs = std::make_unique<RunInputs>(options, loaded, cluster.ranks_on_machine()); });
  require_same(cluster, "the data that --load read", fmt::format("{}", inputs->data.digest()));
  auto make_site = [&](const Plan& plan, const MakeLeaves& make_leaves) {
    MpiOptions mpi{options.threads, cluster.shares()};
    mpi.beside = bytes_beside(plan, options, false);
    return std::make_unique<MpiSite>(plan, cluster, mpi, make_leaves);
  };
  PreparedRun prepared(options, std::move(inputs), make_site);
  prepared.run_all();
  for (const auto& [tensor, file] : saved) prepared.save(tensor, file);
  RunReport report = prepared.report();
  if (prepared.speaks()) print_report(report, options.json);
  return prepared.ok() ? 0 : 1;
}

// What all ranks fail with is said by one of them; one that fails alone ends the job.
int status_of(const Cluster& cluster, const std::function<int()>& f) {
  try {
    int status = 0;
    or_end_job(cluster, [&] { status = f(); });
    return status;
  } catch (const AgreedError& e) {
    if (cluster.rank() == 0) fmt::print(stderr, "{}\n", e.what());
    return static_cast<int>(e.kind());
  }
}

}  // namespace

int main_of_ranks(int argc, const char* const* argv) {
  Cluster cluster(MPI_COMM_WORLD, may_share());
  return status_of(cluster, [&] {
    // Before anybody looks at it: a rank that does something else leaves the others waiting.
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    require_same(cluster, "the words of the command line", fmt::format("{}", fmt::join(words, "\n")));
    RunOnMpi run = [&](const CliOptions& options) {
      return status_of(cluster, [&] { return run_together(options, cluster); });
    };
    return main_command(argc, argv, run, cluster.rank() == 0);
  });
}

}  // namespace distal::core
