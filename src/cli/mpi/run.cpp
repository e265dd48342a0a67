#include "cli/mpi/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/found.h"
#include "cli/job.h"
#include "data/npy_writer.h"
#include "session/mpi/session.h"
#include "support/text.h"

namespace distal::core {

namespace {

CheckResult combined(const Cluster& cluster, const CheckResult& mine) {
  CheckResult all = mine;
  MPI_Allreduce(&mine.max_relative_error, &all.max_relative_error, 1, MPI_DOUBLE, MPI_MAX, cluster.all());
  MPI_Allreduce(&mine.checked, &all.checked, 1, MPI_INT64_T, MPI_SUM, cluster.all());
  int wrong = mine.ok ? cluster.ranks() : cluster.rank();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MIN, cluster.all());
  all.ok = wrong == cluster.ranks();
  if (!all.ok) broadcast_text(cluster, wrong, all.first_wrong);
  return all;
}

void require_fitting(const CliOptions& options, const Cluster& cluster) {
  if (options.ranks == 0 || options.ranks == cluster.ranks()) return;
  throw Error(fmt::format("--ranks {}, but the job has {}", options.ranks, counted(cluster.ranks(), "rank")), {},
              cluster.ranks() == 1 ? "`distal run` starts ranks only if no launcher has set a variable such as "
                                     "PMIX_RANK; otherwise start the ranks with mpirun, without --ranks"
                                   : "omit --ranks when mpirun starts the ranks");
}

// The first rank finds what the program leaves out, and the others get its text.
LoadedModule load_on_ranks(const CliOptions& options, const Cluster& cluster) {
  LoadedModule loaded;
  agree_on_error(cluster, [&] {
    require_fitting(options, cluster);
    loaded = load_module(options);
  });
  std::string params;
  for (const auto& [name, value] : loaded.params) params += fmt::format(" {}={}", name, value);
  require_same(cluster, "the program and its params", to_string(loaded.module) + params);
  find_left_out(options, loaded, ClusterGroup(cluster));
  return loaded;
}

int run_on_ranks(const CliOptions& options, const Cluster& cluster) {
  Job job;
  const LoadedModule& loaded = job.loaded;
  LoadedModule program = load_on_ranks(options, cluster);
  agree_on_error(cluster, [&] {
    job = job_of(options, std::move(program));
    require_host(loaded.module, options.engine);
    if (cluster.rank() > 0) return;
    for (const auto& [tensor, file] : job.saved) require_writable(file);
  });
  std::optional<RunInputs> inputs;
  agree_on_error(cluster, [&] { inputs.emplace(options, loaded); });
  require_same(cluster, "the data that --load read", fmt::format("{}", inputs->data.digest()));
  auto session = std::make_unique<MpiSession>(inputs->program, cluster, session_options(options));
  PreparedRun prepared(options, std::move(*inputs), std::move(session),
                       [&](const CheckResult& mine) { return combined(cluster, mine); });
  prepared.run_all();
  for (const auto& [tensor, file] : job.saved) prepared.save(tensor, file);
  std::string results = job.results(prepared);  // asks all ranks
  if (prepared.is_reporter()) show_text(options, results);
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
