// Programs on ranks, many of them in one start of MPI: every element of every replica against the reference, and what
// was moved and held against the plan. All ranks are started alike:
//
//   mpi_programs_test shared|apart algorithms SEED
//   mpi_programs_test shared|apart random FIRST_SEED COUNT
//
// "apart" makes a node of every rank. The first rank that finds something wrong says what, and ends the job.

#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "engine/mpi/engine.h"
#include "support/catalogue.h"
#include "support/expected.h"

namespace distal::core::test {
namespace {

constexpr unsigned kSecondsPerProgram = 60;

// What the process says when it ends or hangs; kept ready, as a dying process can make no strings.
std::string running;

void on_signal(int signal) {
  ssize_t written = write(STDERR_FILENO, running.data(), running.size());
  (void)written;
  if (signal == SIGALRM) std::_Exit(1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void watch(const Sample& sample, const Cluster& cluster) {
  running = fmt::format("rank {} of {} did not get through {}, {} of seed {}\n{}\n", cluster.rank(), cluster.ranks(),
                        sample.name, sample.settings, sample.seed, sample.text);
  alarm(kSecondsPerProgram);
}

// A program on all ranks.
class OnRanks {
 public:
  OnRanks(const Sample& sample, const Cluster& cluster, bool share, int threads)
      : sample_(sample),
        plan_(sample.plan()),
        engine_(plan_, cluster, MpiOptions{threads, share, 1}, std::numeric_limits<int64_t>::max()),
        shares_(share) {
    engine_.use_leaves(quick_leaves(plan_));
  }

  void check() {
    if (shares_ != engine_.shares_memory()) throw Wrong("memory is shared, or not, against what was asked for");
    check_at_once();
    check_stages();
    require_equal("peak memory", engine_.peak_per_processor(), engine_.needs().peak_per_processor);
  }

 private:
  // Twice, as a second run begins with the memory of the first.
  void check_at_once() {
    for (int i = 0; i < 2; ++i) {
      Expected(plan_, sample_.seed).place(engine_.store());
      RunCounts counts = engine_.run();
      require_cost(plan_, counts.bytes_moved, counts.messages);
    }
  }

  void check_stages() {
    Expected expected(plan_, sample_.seed);
    expected.place(engine_.store());
    RunCounts sum;
    for (size_t s = 0; s < plan_.stages.size(); ++s) {
      sum += engine_.run_stage(s);
      const StagePlan& stage = plan_.stages[s];
      expected.advance(stage, engine_.gather(stage.output, MpiEngine::At::All), sample_.exactly);
      expected.check_pieces(engine_.store(), [this](int64_t p) { return engine_.is_here(p); });
    }
    require_cost(plan_, sum.bytes_moved, sum.messages);
  }

  const Sample& sample_;
  Plan plan_;
  MpiEngine engine_;
  bool shares_;
};

std::vector<Sample> random_samples(uint64_t first, size_t count) {
  std::vector<Sample> out;
  for (uint64_t seed = first; out.size() < count; ++seed) {
    if (std::optional<Sample> sample = random_sample(seed)) out.push_back(std::move(*sample));
  }
  return out;
}

std::vector<Sample> samples_of(const std::vector<std::string>& words) {
  auto number = [&](size_t i) { return std::strtoull(words.at(i).c_str(), nullptr, 10); };
  if (words.at(1) == "algorithms") return Catalogue(number(2)).samples();
  return random_samples(number(2), number(3));
}

void run_all(const std::vector<std::string>& words) {
  bool share = words.at(0) == "shared";
  Cluster cluster(MPI_COMM_WORLD, share);
  int count = 0;
  for (const Sample& sample : samples_of(words)) {
    watch(sample, cluster);
    try {
      OnRanks(sample, cluster, share, 1 + count % 2).check();
    } catch (const std::exception& e) {
      fmt::print(stderr, "{}{}\n", running, e.what());
      std::fflush(stderr);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    ++count;
  }
  alarm(0);
  if (cluster.rank() == 0) fmt::print("{} programs on {} ranks\n", count, cluster.ranks());
}

}  // namespace
}  // namespace distal::core::test

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  for (int signal : {SIGALRM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(signal, distal::core::test::on_signal);
  distal::core::test::run_all(std::vector<std::string>(argv + 1, argv + argc));
  MPI_Finalize();
}
