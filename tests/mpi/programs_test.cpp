// Runs many programs on the ranks of one MPI job. Checks every element of every replica against the reference, and
// bytes, messages and memory against the plan. All ranks get the same arguments:
//
//   mpi_programs_test shared|pairs|dealt|apart algorithms FIRST_SEED COUNT
//   mpi_programs_test shared|pairs|dealt|apart random FIRST_SEED COUNT
//   mpi_programs_test shared|pairs|dealt|apart fails error|memory|anything
//
// "shared" puts all ranks on one node. "apart" puts each rank on a node of its own, "pairs" two ranks on each node, and
// "dealt" assigns the ranks to two nodes in turn. The first rank that finds an error prints it and ends the job. With
// "fails", a leaf of rank 1 fails in the middle of a run.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "session/mpi/session.h"
#include "support/catalogue.h"
#include "support/expected.h"

namespace distal::core::test {
namespace {

constexpr unsigned kSecondsPerProgram = 60;

// What to print if the process crashes or hangs. It is prepared in advance, because a signal handler cannot build
// strings.
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

constexpr int64_t kAnyMemory = std::numeric_limits<int64_t>::max();

std::shared_ptr<PreparedProgram> with_quick_leaves(Plan plan) {
  Leaves leaves = quick_leaves(plan);
  return std::make_shared<PreparedProgram>(std::move(plan), std::move(leaves));
}

// One program, planned and run on all ranks.
class RanksTest {
 public:
  RanksTest(const Sample& sample, const Cluster& cluster, const SessionOptions& options, int prefetch_depth)
      : sample_(sample),
        cluster_(cluster),
        options_(options),
        prefetch_depth_(prefetch_depth),
        session_(with_quick_leaves(sample.plan()), cluster, options, {prefetch_depth, kAnyMemory}),
        plan_(session_.plan()) {
    session_.place_pieces(0);
  }

  void check() {
    if (cluster_.shares() != session_.shares_memory()) throw TestFailure("shares_memory() is not as the cluster says");
    check_whole_runs();
    check_stages();
    require_equal("peak memory", session_.peak_per_processor(), session_.needs().peak_per_processor);
    if (holds_exactly_the_cost()) {
      require_equal("peak memory", session_.peak_per_processor(), count_cost(plan_).peak_bytes_per_processor);
    }
  }

  // Prefetching takes only memory that is available, and a run with too little memory is refused.
  void check_limit() const {
    int64_t need = total_need(0, kAnyMemory);
    if (total_need(kMaxPrefetchDepth, need) > need) throw TestFailure("the need exceeds the limit");
    try {
      total_need(kMaxPrefetchDepth, need - 1);
    } catch (const AgreedError&) {
      return;
    }
    throw TestFailure("a limit below the need is not refused");
  }

 private:
  int64_t total_need(int prefetch_depth, int64_t memory) const {
    MpiSession session(session_.prepared(), cluster_, options_, {prefetch_depth, memory});
    session.place_pieces(0);
    return session.needs().total;
  }

  // Runs twice, as the second run uses the memory of the first.
  void check_whole_runs() {
    for (int i = 0; i < 2; ++i) {
      Expected(plan_, sample_.seed).place(session_.store());
      RunCounts counts = session_.run();
      require_cost(plan_, counts.bytes_moved, counts.messages);
    }
  }

  void check_stages() {
    Expected expected(plan_, sample_.seed);
    expected.place(session_.store());
    RunCounts sum;
    for (size_t s = 0; s < plan_.stages.size(); ++s) {
      sum += session_.run_stage(s);
      const StagePlan& stage = plan_.stages[s];
      expected.advance(stage, session_.gather(stage.output), sample_.exactly);
      expected.check_pieces(session_.store(), [this](int64_t p) { return session_.is_here(p); });
    }
    require_cost(plan_, sum.bytes_moved, sum.messages);
  }

  // Whether each processor holds exactly what the cost of the plan says.
  bool holds_exactly_the_cost() const {
    const auto& staging = session_.needs().staging_bytes;
    bool staged = std::any_of(staging.begin(), staging.end(), [](const auto& by_place) { return !by_place.empty(); });
    return !cluster_.shares() && prefetch_depth_ == 0 && plan_.processors <= cluster_.ranks() && !staged;
  }

  const Sample& sample_;
  const Cluster& cluster_;
  SessionOptions options_;
  int prefetch_depth_;
  MpiSession session_;
  const Plan& plan_;
};

// A leaf that fails on one rank, at its third step.
class FailingLeaf : public LeafKernel {
 public:
  FailingLeaf(std::shared_ptr<const LeafKernel> leaf, std::string how, bool fails)
      : leaf_(std::move(leaf)), how_(std::move(how)), fails_(fails) {}

  void run(const LeafArguments& arguments) const override {
    if (fails_ && ++runs_ == 3) fail();
    leaf_->run(arguments);
  }
  std::string description() const override { return "failing"; }

 private:
  void fail() const {
    if (how_ == "error") throw Error("this leaf fails");
    if (how_ == "memory") throw std::bad_alloc();
    throw 1;
  }

  std::shared_ptr<const LeafKernel> leaf_;
  std::string how_;
  bool fails_;
  mutable std::atomic<int> runs_{0};
};

void run_failing(const Cluster& cluster, const std::string& how) {
  std::string settings = fmt::format("ni=40,nj=40,nk=40,gx={},gy=1,chunk=4", cluster.ranks());
  Plan plan = Sample{"summa", algorithm_text("summa"), settings}.plan();
  Leaves leaves = quick_leaves(plan);
  for (auto& leaf : leaves) leaf = std::make_shared<FailingLeaf>(leaf, how, cluster.rank() == 1);
  MpiSession session(std::make_shared<PreparedProgram>(std::move(plan), std::move(leaves)), cluster, {.threads = 1},
                     {.memory = kAnyMemory});
  session.place_pieces(0);
  session.run();
}

std::vector<Sample> random_samples(uint64_t first, size_t count) {
  std::vector<Sample> out;
  for (uint64_t seed = first; out.size() < count; ++seed) {
    if (std::optional<Sample> sample = random_sample(seed)) out.push_back(std::move(*sample));
  }
  return out;
}

// All algorithms, with different sizes and types for every seed.
std::vector<Sample> catalogues(uint64_t first, size_t count) {
  std::vector<Sample> out;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::vector<Sample> all = Catalogue(seed).samples();
    out.insert(out.end(), all.begin(), all.end());
  }
  return out;
}

std::vector<Sample> samples_of(const std::vector<std::string>& words) {
  auto number = [&](size_t i) { return std::strtoull(words.at(i).c_str(), nullptr, 10); };
  return words.at(1) == "algorithms" ? catalogues(number(2), number(3)) : random_samples(number(2), number(3));
}

// The node to which a rank is assigned.
std::string node_of(const std::string& memory, int rank) {
  if (memory == "pairs") return fmt::format("{}", rank / 2);
  return memory == "dealt" ? fmt::format("{}", rank % 2) : "";
}

void run_all(const std::vector<std::string>& words) {
  bool share = words.at(0) != "apart";
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Cluster cluster(MPI_COMM_WORLD, share, node_of(words[0], rank));
  if (words.at(1) == "fails") return run_failing(cluster, words.at(2));
  int count = 0;
  for (const Sample& sample : samples_of(words)) {
    watch(sample, cluster);
    try {
      RanksTest program(sample, cluster, {.threads = 1 + count % 2}, count / 2 % 4);
      program.check();
      if (count % 8 == 0) program.check_limit();
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
