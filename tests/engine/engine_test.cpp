#include "engine/runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/statements.h"
#include "support/run.h"
#include "support/wrapped_leaf.h"

namespace distal::core {
namespace {

using test::algorithm_text;
using test::run_algorithm;
using test::run_text;
using test::RunOptions;
using test::TestRun;

// ---- own memory ----

NodePtr node(Node n) { return std::make_shared<const Node>(std::move(n)); }

// The program with every acquire changed by `change`.
NodePtr rebuilt(const NodePtr& at, const std::function<void(Acquire&)>& change) {
  Node copy = *at;
  if (auto* chain = std::get_if<Chain>(&copy.value)) {
    for (NodePtr& part : chain->parts) part = rebuilt(part, change);
  } else if (auto* launch = std::get_if<Launch>(&copy.value)) {
    launch->body = rebuilt(launch->body, change);
  } else if (auto* loop = std::get_if<Loop>(&copy.value)) {
    loop->body = rebuilt(loop->body, change);
  } else if (auto* acquire = std::get_if<Acquire>(&copy.value)) {
    acquire->body = rebuilt(acquire->body, change);
    change(*acquire);
  }
  return node(std::move(copy));
}

// SUMMA with an acquire that is too small: it covers only the first iteration of a loop.
std::unique_ptr<Plan> summa_with_a_small_acquire(const std::string& tensor, const std::string& loop) {
  Module module = test::parse_text(algorithm_text("summa"));
  auto program = std::make_shared<Program>(*compile(module));
  Stage& stage = program->stages[0];
  int variable = find_variable(stage.space, loop);
  stage.root = rebuilt(stage.root, [&](Acquire& a) {
    if (a.tensor == tensor) a.fixed.push_back(variable);
  });
  Bindings params = distal::core::bind(module, test::settings_of("ni=8,nj=6,nk=12,gx=2,gy=2,chunk=3"));
  return std::make_unique<Plan>(make_plan(program, params));
}

struct SmallAcquire {
  std::string tensor, loop, text;
};

TEST(OwnMemory, AnAcquireThatIsTooSmallIsCaught) {
  for (const SmallAcquire& c :
       {SmallAcquire{"B", "ki", "processor (0, 0) touches B[0:4, 0:3] without having acquired it"},
        SmallAcquire{"C", "ji", "processor (0, 0) touches C[0:3, 0:3] without having acquired it"},
        SmallAcquire{"A", "ii", "processor (0, 0) touches A[0:4, 0:3] without having acquired it"}}) {
    for (int threads : {1, 2}) {
      RunOptions options;
      options.own_memory = true;
      options.threads = threads;
      TestRun run(summa_with_a_small_acquire(c.tensor, c.loop), options, {}, false);
      EXPECT_EQ(test::message_of<InternalError>([&] { run.run(); }), c.text);
    }
    // The verifier finds it before anything runs.
    auto plan = summa_with_a_small_acquire(c.tensor, c.loop);
    EXPECT_EQ(test::message_of<PlanError>([&] { verify(*plan, memory_needs(*plan, Reach::own())); }),
              "the plan is wrong: " + c.text);
  }
}

// Cannon with one buffer where two are needed: a neighbour's copy is overwritten before it is read.
TEST(OwnMemory, ACopyThatIsNotFilledIsCaught) {
  RunOptions options;
  options.own_memory = true;
  options.threads = 1;
  TestRun run(algorithm_text("cannon"), "ni=9,nj=6,nk=12,gx=3,gy=3", options);
  for (auto& acquire : run.needs().buffers[0]) {
    for (auto& [place, need] : acquire) need.depth = 1;
  }
  EXPECT_EQ(test::message_of<InternalError>([&] { run.run(); }),
            "processor (0, 2) was given 0 of the 12 elements of B[0:3, 0:4]");
}

TEST(OwnMemory, EveryAlgorithmIsRight) {
  RunOptions options;
  options.own_memory = true;
  options.leaf = LeafChoice::Interpreted;
  run_algorithm("summa", "ni=11,nj=13,nk=17,gx=2,gy=3,chunk=4", options);
  run_algorithm("cannon", "ni=11,nj=13,nk=17,gx=3,gy=3", options);
  run_algorithm("pumma", "ni=11,nj=13,nk=17,gx=3,gy=2", options);
  run_algorithm("johnson", "ni=11,nj=13,nk=17,gx=2,gy=3,gz=2", options);
  run_algorithm("solomonik", "ni=11,nj=13,nk=17,g=3,c=2", options);
  run_algorithm("cosma", "ni=11,nj=13,nk=17,gx=2,gy=2,gz=3,steps=2,seqi=2,seqj=2", options);
  run_algorithm("ttv", "ni=7,nj=8,nk=9,gx=3,gy=2", options);
  run_algorithm("innerprod", "ni=7,nj=8,nk=9,gx=3,gy=2", options);
  run_algorithm("ttm", "ni=7,nj=4,nk=9,nl=5,gx=3", options);
  run_algorithm("mttkrp", "ni=7,nj=4,nk=9,nl=5,gx=2,gy=3,gz=2", options);
  run_algorithm("matvec", "ni=17,nj=14,gx=3,gy=2", options);
  run_algorithm("contraction4", "ni=5,nj=4,nk=3,nl=6,nm=7,nn=2", options);
}

// ---- views and copies ----

TEST(Views, SummaWithAlignedChunksCopiesNothing) {
  RunCounts counts = run_algorithm("summa", "ni=24,nj=20,nk=32,gx=2,gy=2,chunk=8");
  EXPECT_EQ(counts.bytes_copied, 0);
  EXPECT_EQ(counts.bytes_moved, (24 * 32 + 32 * 20) * 8);
}

TEST(Views, InMemoryOfItsOwnWhatMovesIsCopied) {
  RunOptions options;
  options.own_memory = true;
  RunCounts counts = run_algorithm("summa", "ni=24,nj=20,nk=32,gx=2,gy=2,chunk=8", options);
  EXPECT_EQ(counts.bytes_copied, counts.bytes_moved);
  EXPECT_EQ(counts.bytes_moved, (24 * 32 + 32 * 20) * 8);
}

TEST(Views, CannonCopiesNothingEither) {
  EXPECT_EQ(run_algorithm("cannon", "ni=24,nj=20,nk=32,gx=4,gy=4").bytes_copied, 0);
}

TEST(Views, MatchedLayoutsCopyNothing) {
  EXPECT_EQ(run_algorithm("ttv", "ni=12,nj=14,nk=9,gx=3,gy=2").bytes_copied, 0);
  RunOptions options;
  options.own_memory = true;
  EXPECT_EQ(run_algorithm("ttv", "ni=12,nj=14,nk=9,gx=3,gy=2", options).bytes_copied, 0);
}

TEST(Memory, IsWhatThePlanSays) {
  for (bool own : {false, true}) {
    RunOptions options;
    options.own_memory = own;
    TestRun run(algorithm_text("summa"), "ni=24,nj=20,nk=36,gx=2,gy=2,chunk=8", options);
    run.run_and_check();
    EXPECT_EQ(run.peak(), run.needs().peak_per_processor);
    EXPECT_EQ(run.needs().peak_per_processor <= count_cost(run.plan()).peak_bytes_per_processor, true);
  }
}

TEST(Memory, AFailedAllocationIsAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer ends the program here";
#else
  Allocator allocator(4);
  EXPECT_EQ(test::message_of([&] { allocator.allocate(3, int64_t{1} << 60); }),
            "error: cannot allocate 1152921504606846976 bytes for processor 3");
  EXPECT_EQ(allocator.peak_per_processor(), 0);
#endif
}

// A longer plan does not need more memory: each step reuses the buffers.
TEST(Memory, DoesNotGrowWithTheSteps) {
  RunOptions options;
  options.own_memory = true;
  TestRun few(algorithm_text("summa"), "ni=8,nj=8,nk=64,gx=2,gy=2,chunk=4", options);
  few.run_and_check();
  TestRun many(algorithm_text("summa"), "ni=8,nj=8,nk=64,gx=2,gy=2,chunk=1", options);
  many.run_and_check();
  EXPECT_LT(many.peak(), few.peak());
}

// ---- many processors, few threads ----

TEST(Scale, FourThousandProcessorsOnTwoThreads) {
  RunOptions options;
  options.threads = 2;
  RunCounts counts = run_algorithm("summa", "ni=128,nj=64,nk=96,gx=64,gy=64,chunk=48", options);
  EXPECT_GE(counts.tasks, 4096 * 2);
}

TEST(Scale, FourThousandProcessorsShift) {
  RunOptions options;
  options.threads = 2;
  options.own_memory = true;
  options.type = ElementType::Int32;
  run_text(test::tiled_gemm(R"(
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  divide(k, ko, ki, 4)
  reorder({io, jo, ko, ii, ji, ki})
  rotate(ko, {io, jo}, kos)
  communicate(A, jo)
  communicate({B, C}, kos)
  substitute({ii, ji, ki}, gemm)
)"),
           "ni=64,nj=64,nk=32,gx=64,gy=64", options);
}

TEST(Scale, OneProcessor) {
  for (const char* name : {"summa", "cannon", "pumma"}) {
    RunCounts counts = run_algorithm(name, "ni=7,nj=9,nk=11,gx=1,gy=1");
    EXPECT_EQ(counts.bytes_moved, 0);
    EXPECT_EQ(counts.messages, 0);
  }
}

TEST(Scale, MoreThreadsThanProcessors) {
  RunOptions options;
  options.threads = 8;
  run_algorithm("cannon", "ni=7,nj=9,nk=11,gx=2,gy=2", options);
}

class ThreadCounts : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, ThreadCounts, testing::Values(1, 2, 5));

TEST_P(ThreadCounts, GiveTheSameAnswerAndCounts) {
  for (bool own : {false, true}) {
    RunOptions options;
    options.threads = GetParam();
    options.own_memory = own;
    run_algorithm("cannon", "ni=13,nj=17,nk=19,gx=3,gy=4", options);
    run_algorithm("johnson", "ni=13,nj=17,nk=19,gx=2,gy=2,gz=3", options);
    run_algorithm("solomonik", "ni=13,nj=17,nk=19,g=4,c=2", options);
    run_algorithm("mttkrp", "ni=7,nj=6,nk=5,nl=4,gx=3,gy=2,gz=2", options);
  }
}

// Partials are combined in processor order, so the result is the same to the bit for any number of threads.
TEST(Determinism, SumsAreEqualToTheBit) {
  std::vector<std::byte> first;
  for (int threads : {1, 2, 5, 2}) {
    RunOptions options;
    options.threads = threads;
    options.integer_valued = false;
    TestRun run(algorithm_text("johnson"), "ni=13,nj=17,nk=190,gx=1,gy=2,gz=7", options);
    run.run_and_check();
    std::vector<std::byte> now = run.store().gather(run.plan().tensor_index("A"));
    if (first.empty()) first = now;
    EXPECT_TRUE(now == first) << threads << " threads";
  }
}

TEST_P(ThreadCounts, OneDeepBuffersDoNotDeadlock) {
  RunOptions options;
  options.threads = GetParam();
  options.neighbours = false;
  options.own_memory = true;
  run_algorithm("cannon", "ni=13,nj=17,nk=19,gx=4,gy=4", options);
  run_algorithm("pumma", "ni=13,nj=17,nk=19,gx=4,gy=4", options);
  run_algorithm("solomonik", "ni=13,nj=17,nk=19,g=4,c=2", options);
  TestRun run(algorithm_text("cannon"), "ni=13,nj=17,nk=19,gx=4,gy=4", options);
  for (const auto& acquire : run.needs().buffers[0]) {
    for (const auto& [place, need] : acquire) EXPECT_EQ(need.depth, 1);
  }
}

// ---- repeated and concurrent runs ----

TEST(Reuse, TheSameEngineManyTimesOnNewData) {
  for (const char* name : {"cannon", "johnson"}) {
    RunOptions options;
    options.own_memory = true;
    std::string grid = name == std::string("cannon") ? "gx=3,gy=3" : "gx=2,gy=2,gz=2";
    TestRun run(algorithm_text(name), "ni=11,nj=13,nk=7," + grid, options);
    run.run_and_check();
    RunCounts first = run.counts();
    for (uint64_t seed = 2; seed < 30; ++seed) {
      run.place(seed);
      run.run_and_check();
      EXPECT_EQ(run.counts().bytes_moved, first.bytes_moved);
      EXPECT_EQ(run.counts().messages, first.messages);
      EXPECT_EQ(run.counts().bytes_copied, first.bytes_copied);
    }
    EXPECT_LE(run.peak(), run.needs().peak_per_processor);
  }
}

// `=` overwrites its output, whatever it held before.
TEST(Reuse, AnAssignmentOverwrites) {
  TestRun run(algorithm_text("johnson"), "ni=5,nj=6,nk=7,gx=2,gy=2,gz=2", {});
  for (int i = 0; i < 3; ++i) run.run_and_check();
}

// A leaf that gains from joining. It records how many steps each joined run has.
class JoinCountingLeaf : public test::WrappedLeaf {
 public:
  JoinCountingLeaf(std::unique_ptr<LeafKernel> leaf, std::vector<size_t>& runs)
      : WrappedLeaf(std::move(leaf)), runs_(runs) {}
  bool gains_from_joining() const override { return true; }
  void run_joined(std::span<const LeafArguments> runs) const override {
    runs_.push_back(runs.size());
    WrappedLeaf::run_joined(runs);
  }

 private:
  std::vector<size_t>& runs_;
};

// A run with generated leaves, each wrapped in a counting leaf. It uses one thread, as the counters are not atomic.
template <class Counting, class... Counts>
TestRun counting_run(const std::string& text, const std::string& settings, bool own, Counts&... counts) {
  RunOptions options;
  options.own_memory = own;
  options.threads = 1;
  auto plan = std::make_unique<Plan>(test::plan_text(text, settings));
  Leaves leaves;
  for (const StagePlan& stage : plan->stages) {
    leaves.push_back(
        std::make_unique<Counting>(make_leaf(stage, ElementType::Double, LeafChoice::Generated), counts...));
  }
  return {std::move(plan), options, std::move(leaves)};
}

// How often each number of steps was joined.
std::map<size_t, int> joined_steps(const std::string& text, const std::string& settings, bool own = false) {
  SCOPED_TRACE(settings);
  std::vector<size_t> runs;
  counting_run<JoinCountingLeaf>(text, settings, own, runs).run_and_check();
  std::map<size_t, int> out;
  for (size_t n : runs) ++out[n];
  return out;
}

using Histogram = std::map<size_t, int>;

TEST(JoinedSteps, WhoseOperandsAreViews) {
  EXPECT_EQ(joined_steps(algorithm_text("cannon"), "ni=9,nj=6,nk=12,gx=3,gy=3"), (Histogram{{3, 9}}));
  EXPECT_EQ(joined_steps(algorithm_text("summa"), "ni=8,nj=6,nk=12,gx=2,gy=2,chunk=3"), (Histogram{{4, 4}}));
  // At most 16 steps are joined.
  EXPECT_EQ(joined_steps(algorithm_text("summa"), "ni=8,nj=6,nk=37,gx=1,gy=2,chunk=1"), (Histogram{{16, 4}, {5, 2}}));
}

// The copy of an operand is overwritten by the copy of the next step, so such steps are not joined. In this SUMMA, each
// processor owns half of B and reads that half in place.
TEST(JoinedSteps, NotWhereOperandsAreCopies) {
  EXPECT_EQ(joined_steps(algorithm_text("cannon"), "ni=9,nj=6,nk=12,gx=3,gy=3", true), (Histogram{{1, 27}}));
  EXPECT_EQ(joined_steps(algorithm_text("summa"), "ni=8,nj=6,nk=37,gx=1,gy=2,chunk=1", true),
            (Histogram{{16, 2}, {3, 1}, {2, 1}, {1, 37}}));
}

// Steps before and after a release are not joined: a piece must be complete when it is released.
TEST(JoinedSteps, NotBeyondARelease) {
  const std::string steps = R"(
machine M = Grid(2)
tensor A(6, 5) : xy -> x on M
tensor B(6, 12) : xy -> x on M
tensor C(12, 5) : xy -> x on M
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute(k, ko, ki, M)
  split(i, io, ii, 3)
  split(ki, kio, kii, 2)
  reorder({ko, io, kio, ii, j, kii})
  communicate(A, io)
  communicate({B, C}, kio)
)";
  EXPECT_EQ(joined_steps(steps, ""), (Histogram{{3, 4}}));
}

// A leaf that counts its runs, and how many of them overwrite the output.
class OverwriteCountingLeaf : public LeafKernel {
 public:
  OverwriteCountingLeaf(std::unique_ptr<LeafKernel> leaf, int& overwrites, int& runs)
      : leaf_(std::move(leaf)), overwrites_(overwrites), runs_(runs) {}
  bool can_overwrite() const override { return leaf_->can_overwrite(); }
  void run(const LeafArguments& arguments) const override {
    ++runs_;
    if (arguments.overwrite) ++overwrites_;
    leaf_->run(arguments);
  }
  std::string description() const override { return leaf_->description(); }

 private:
  std::unique_ptr<LeafKernel> leaf_;
  int &overwrites_, &runs_;
};

struct OverwriteCounts {
  int overwrites = 0, runs = 0;
  bool operator==(const OverwriteCounts&) const = default;
};

// The counts of the second of two runs, whose buffers hold old values at the start.
OverwriteCounts overwrites_of(const std::string& text, const std::string& settings, bool own = false) {
  SCOPED_TRACE(settings);
  OverwriteCounts out;
  TestRun run = counting_run<OverwriteCountingLeaf>(text, settings, own, out.overwrites, out.runs);
  run.run_and_check();
  out = {};
  run.place(2);
  run.run_and_check();
  return out;
}

// The first step of a sum overwrites the piece or the partial; later steps add to it.
TEST(Overwrites, TheFirstStepNeedsNoZeros) {
  for (bool own : {false, true}) {
    EXPECT_EQ(overwrites_of(algorithm_text("summa"), "ni=8,nj=6,nk=12,gx=2,gy=2,chunk=3", own),
              (OverwriteCounts{4, 16}));
    EXPECT_EQ(overwrites_of(algorithm_text("cannon"), "ni=9,nj=6,nk=12,gx=3,gy=3", own), (OverwriteCounts{9, 27}));
    EXPECT_EQ(overwrites_of(algorithm_text("solomonik"), "ni=8,nj=8,nk=8,g=2,c=2", own), (OverwriteCounts{8, 8}));
    EXPECT_EQ(overwrites_of(algorithm_text("johnson"), "ni=5,nj=6,nk=7,gx=2,gy=2,gz=2", own), (OverwriteCounts{8, 8}));
  }
}

// The last processor owns all of A. It has no work, as the sum has two iterations for three processors.
constexpr char kOwnedByAnIdleProcessor[] = R"(
machine M = Grid(3)
tensor A(5, 4) : xy -> 2 on M
tensor B(5, 2) : xy -> y on M
tensor C(2, 4) : xy -> x on M
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute(k, ko, ki, M)
  reorder(ko, i, j, ki)
  communicate({A, B, C}, ko)
)";

// A processor without work contributes zeros.
TEST(Overwrites, ProcessorsWithoutWorkContributeZeros) {
  for (bool own : {false, true}) {
    EXPECT_EQ(overwrites_of(algorithm_text("johnson"), "ni=5,nj=6,nk=2,gx=2,gy=2,gz=3", own), (OverwriteCounts{8, 8}));
    EXPECT_EQ(overwrites_of(kOwnedByAnIdleProcessor, "", own), (OverwriteCounts{2, 2}));
  }
}

// Leaves that each compute a part of a piece add to zeros.
TEST(Overwrites, APartOfAPieceIsAddedToZeros) {
  const std::string tiles = R"(
param g = 2
machine M = Grid(g)
tensor A(12, 9) : xy -> x on M
tensor B(12, 8) : xy -> x on M
tensor C(8, 9) : xy -> x on M
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute(i, io, ii, M)
  split(j, jo, ji, 4)
  split(k, ko, ki, 4)
  reorder(io, ko, jo, ii, ji, ki)
  communicate(A, io)
  communicate({B, C}, jo)
)";
  EXPECT_EQ(overwrites_of(tiles, "").overwrites, 0);
  const std::string again = R"(
machine M = Grid(2)
tensor A(12, 9) : xy -> x on M
tensor B(12, 8) : xy -> x on M
tensor C(8, 9) : xy -> x on M
A(i, j) += B(i, k) * C(k, j)
schedule
  distribute(i, io, ii, M)
  split(k, ko, ki, 4)
  reorder(io, ko, ii, j, ki)
  communicate(A, io)
  communicate({B, C}, ko)
)";
  EXPECT_EQ(overwrites_of(again, "").overwrites, 0);
}

// A term outside the sum is added in one step only, which need not be the first.
TEST(Overwrites, NotWhereATermIsOutsideTheSum) {
  const std::string terms = R"(
machine M = Grid(3)
tensor A(12, 9) : xy -> x on M
tensor B(12, 9) : xy -> x on M
tensor C(9, 9) : xy -> x on M
A(i, j) = B(i, k) * C(k, j) + B(i, j)
schedule
  distribute(i, io, ii, M)
  divide(k, ko, ki, 3)
  reorder(io, ko, ii, j, ki)
  rotate(ko, io, kos)
  communicate(A, io)
  communicate({B, C}, kos)
)";
  EXPECT_EQ(overwrites_of(terms, "").overwrites, 0);
}

TEST(Reuse, TwoEnginesAtTheSameTime) {
  auto work = [](const char* name, const std::string& settings, bool own) {
    RunOptions options;
    options.own_memory = own;
    TestRun run(algorithm_text(name), settings, options);
    for (uint64_t seed = 1; seed < 15; ++seed) {
      run.place(seed);
      run.run_and_check();
    }
  };
  std::thread other([&] { work("summa", "ni=17,nj=19,nk=23,gx=2,gy=3,chunk=5", true); });
  work("solomonik", "ni=17,nj=19,nk=23,g=3,c=3", false);
  other.join();
}

TEST(Statements, OneAfterAnother) {
  for (bool own : {false, true}) {
    RunOptions options;
    options.own_memory = own;
    run_text(test::kStatements, "", options);
  }
}

// ---- failure ----

class FailingLeaf : public LeafKernel {
 public:
  explicit FailingLeaf(int good) : good_(good) {}
  void run(const LeafArguments&) const override {
    if (runs_++ >= good_) throw std::runtime_error("the leaf has had enough");
  }
  std::string description() const override { return "failing"; }

 private:
  int good_;
  mutable std::atomic<int> runs_{0};
};

TEST_P(ThreadCounts, AFailingLeafEndsTheRunWithItsReason) {
  for (int good : {0, 1, 17, 200}) {
    for (bool own : {false, true}) {
      RunOptions options;
      options.threads = GetParam();
      options.own_memory = own;
      auto plan = std::make_unique<Plan>(test::plan_algorithm("summa", "ni=64,nj=64,nk=64,gx=8,gy=8,chunk=1"));
      Leaves leaves;
      leaves.push_back(std::make_unique<FailingLeaf>(good));
      TestRun run(std::move(plan), options, std::move(leaves));
      EXPECT_EQ(test::message_of<std::runtime_error>([&] { run.run(); }), "the leaf has had enough");
    }
  }
}

}  // namespace
}  // namespace distal::core
