// Sharing the work of a leaf between the threads of a processor.

#include "leaf/share.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <random>

#include "leaf/generate.h"
#include "leaf/interpret.h"
#include "leaf/nest.h"
#include "property/generate.h"
#include "support/cache_folder.h"
#include "support/run.h"

namespace distal::core {
namespace {

using test::RunOptions;
using test::TestRun;

// A cache of compiled leaves that later test runs use again.
std::string cache() { return fmt::format("{}distal-leaf-test-{}", testing::TempDir(), geteuid()); }

TEST(ThreadRange, CoversAllStepsEvenly) {
  for (int64_t steps : {int64_t{0}, int64_t{1}, int64_t{7}, int64_t{24}, int64_t{1} << 62}) {
    for (int64_t parts : {1, 2, 3, 10}) {
      int64_t end = 0;
      for (int64_t p = 0; p < parts; ++p) {
        IterationRange range = thread_range(steps, p, parts);
        EXPECT_EQ(range.first, end);
        EXPECT_GE(range.last - range.first, steps / parts);
        EXPECT_LE(range.last - range.first, steps / parts + 1);
        end = range.last;
      }
      EXPECT_EQ(end, steps);
    }
  }
}

// Records its boxes.
class Recorder : public BoxKernel {
 public:
  bool takes(const BoxShape&) const override { return true; }
  void run(const Box& box, bool) const override {
    std::lock_guard lock(mutex_);
    boxes_.push_back(box);
  }
  std::string description() const override { return "recorder"; }
  std::string explain(const BoxShape&, const std::vector<std::string>&) const override { return ""; }
  const std::vector<Box>& boxes() const { return boxes_; }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<Box> boxes_;
};

// Joins boxes with sums of equal length, and records where each joined box begins.
class Joiner : public Recorder {
 public:
  bool can_join(const Box& box, const Box& next) const override { return box.axes[0].extent == next.axes[0].extent; }
  void run_joined(std::span<const Box> boxes, bool begin) const override {
    std::string said = begin ? "begin" : "add";
    for (const Box& box : boxes) said += fmt::format(" {}", box.first[0]);
    runs_.push_back(said);
  }
  const std::vector<std::string>& runs() const { return runs_; }

 private:
  mutable std::vector<std::string> runs_;
};

Box sum_from(int64_t first, int64_t extent) {
  Box box;
  box.axes = {{extent, {0}}};
  box.set_data({nullptr});
  box.first = {first};
  return box;
}

// Consecutive boxes that can be joined are sorted by their indices, so that neighbours become contiguous. The groups
// keep their order, as only the first one overwrites the output.
TEST(Share, JoinsBoxesThatFollowOneAnother) {
  BoxKernels kernels;
  kernels.push_back(std::make_unique<Joiner>());
  const auto& runs = static_cast<const Joiner&>(*kernels[0]).runs();
  share_in_turn(kernels, {sum_from(20, 5), sum_from(30, 5), sum_from(35, 4), sum_from(10, 5), sum_from(0, 5)},
                ElementType::Double, true, nullptr);
  EXPECT_EQ(runs, (std::vector<std::string>{"begin 20 30", "add 35", "add 0 10"}));
}

// Each part knows the number of threads, as the size of the whole output decides whether stores bypass the caches.
TEST(Share, APartKnowsTheNumberOfThreads) {
  Box box;
  box.axes = {{1024, {1024}}, {1024, {1}}};
  box.set_data({nullptr});
  for (int threads : {1, 2, 3}) {
    Recorder recorder;
    Team team(threads);
    share(recorder, {&box, 1}, ElementType::Double, true, &team);
    ASSERT_EQ(recorder.boxes().size(), static_cast<size_t>(threads));
    double all = 0;
    for (const Box& part : recorder.boxes()) {
      EXPECT_EQ(part.sharers, threads);
      all += part.volume(0);
    }
    EXPECT_EQ(all, box.volume(0));
  }
}

struct NestCase {
  std::string name;
  std::string text;
  std::string shared;  // the loops that threads may share, outermost first
  int processors = 1;
};
void PrintTo(const NestCase& c, std::ostream* out) { *out << c.text; }

// Each nest is just large enough to be shared.
std::vector<NestCase> nests() {
  const std::string matrices = "param n = 82\ntensor A(n, n)\ntensor B(n, n)\ntensor C(n, n)\n",
                    product = "A(i, j) = B(i, k) * C(k, j)\nschedule\n", gemm = matrices + product,
                    plane = "param n = 730\ntensor a(n)\ntensor A(n, n)\ntensor B(n, n)\n";
  return {
      {"as_written", matrices + "A(i, j) = B(i, k) * C(k, j)\n", "i, j"},
      {"sum_outermost", gemm + "  reorder({k, j, i})\n", "j, i"},
      {"collapsed_and_divided", gemm + "  collapse(i, j, f)\n  divide(f, fo, fi, 7)\n", "fo, fi"},
      {"collapsed_with_a_sum", gemm + "  collapse(j, k, f)\n  divide(f, fo, fi, 5)\n", "i"},
      {"few_iterations_outside", gemm + "  divide(i, io, ii, 2)\n  reorder({io, k, ii, j})\n", "io, ii, j"},
      {"many_parts_past_the_end", gemm + "  divide(i, io, ii, 1000)\n", "io, ii, j"},
      {"chunks_past_the_end", gemm + "  split(i, io, ii, 30)\n  reorder({ii, k, io, j})\n", "ii, io, j"},
      {"chunks_of_chunks",
       gemm + "  split(j, jo, ji, 33)\n  divide(ji, jio, jii, 4)\n  reorder({k, jii, jo, i, jio})\n",
       "jii, jo, i, jio"},
      {"rotated_by_an_index", gemm + "  rotate(j, i, jr)\n  reorder({jr, i, k})\n", "jr, i"},
      {"rotated_sum", gemm + "  rotate(k, {i, j}, kr)\n", "i, j"},
      {"rotated_by_a_sum", gemm + "  reorder({k, i, j})\n  rotate(i, k, ir)\n", "j"},
      {"rotated_by_a_sum_around_it", gemm + "  reorder({k, i, j})\n  rotate(i, k, ir)\n  reorder({ir, j, k})\n", "j"},
      {"rotated_in_a_collapse", gemm + "  rotate(j, i, jr)\n  collapse(i, jr, f)\n  split(f, fo, fi, 100)\n", "fo, fi"},
      {"term_outside_the_sum",
       matrices + "A(i, j) = C(i, j) - B(i, k) * C(k, j)\nschedule\n  reorder({k, j, i})\n  unroll(i, 3)\n", "j, i"},
      {"vectorized", gemm + "  reorder({i, k, j})\n  vectorize(j)\n", "i, j"},
      {"vectorized_sum", gemm + "  vectorize(k)\n", "i, j"},
      {"plain_store", plane + "A(i, j) = 2 * B(j, i) - B(i, j)\nschedule\n  collapse(i, j, f)\n", "f"},
      {"diagonal", plane + "A(i, i) += B(i, j) * B(j, i)\nschedule\n  reorder({j, i})\n", "i"},
      {"rows_in_one_loop", plane + "a(i) = B(i, j)\nschedule\n  collapse(i, j, f)\n", ""},
      {"one_element", "param n = 730\ntensor a\ntensor B(n, n)\na = B(i, j)\n", ""},
      {"parallelized", gemm + "  parallelize(i)\n", "i, j"},
      {"no_box",
       "param n = 103\nmachine M = Grid(2)\ntensor A(n, n)\ntensor B(n, n)\ntensor C(n, n)\n" + product +
           "  collapse(i, j, f)\n  divide(f, fo, fi, 2)\n  distribute(fo)\n  communicate({A, B, C}, fo)\n",
       "fi", 2},
  };
}

enum class Kind { Interpreted, Generated, Strict };

// Runs a nest with one kind of leaf and `threads` threads per processor, checks the result and returns it.
std::vector<std::byte> output_of(const NestCase& nest, ElementType type, Kind kind, int threads, bool integer_valued) {
  RunOptions options;
  options.threads = threads * nest.processors;
  options.integer_valued = integer_valued;
  auto plan = std::make_unique<Plan>(test::plan_module(TestRun::typed(test::parse_text(nest.text), type), {}));
  LeafTask task = whole_leaf(plan->stages[0]);
  Leaves leaves;
  leaves.push_back(kind == Kind::Interpreted ? make_interpreted_leaf(task, type)
                                             : make_generated_leaf(task, type, kind == Kind::Strict));
  TestRun run(std::move(plan), options, std::move(leaves));
  run.run_and_check();
  return run.store().gather(run.plan().stages[0].output);
}

class SharedNests : public testing::TestWithParam<NestCase> {};
INSTANTIATE_TEST_SUITE_P(Cases, SharedNests, testing::ValuesIn(nests()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(SharedNests, AlongLoopsThatIndexTheOutput) {
  Plan plan = test::plan_text(GetParam().text);
  LeafTask task = whole_leaf(plan.stages[0]);
  std::vector<std::string> names;
  for (int v :
       loops_to_share(task.space, make_leaf_nest(task.space, task.loops), task.part->compute()->operands[0].indices)) {
    names.push_back(task.space.names[v]);
  }
  EXPECT_EQ(fmt::format("{}", fmt::join(names, ", ")), GetParam().shared);
}

TEST_P(SharedNests, EqualInterpretedOnes) {
  test::CacheFolder folder(cache());
  std::vector<std::byte> exact = output_of(GetParam(), ElementType::Int64, Kind::Interpreted, 1, true);
  for (int threads : {1, 2, 3}) {
    EXPECT_TRUE(output_of(GetParam(), ElementType::Int64, Kind::Generated, threads, true) == exact) << threads;
  }
}

TEST_P(SharedNests, InStrictOrderAreTheSameBitForBit) {
  test::CacheFolder folder(cache());
  std::vector<std::byte> alone = output_of(GetParam(), ElementType::Double, Kind::Strict, 1, false);
  for (int threads : {2, 3}) {
    EXPECT_TRUE(output_of(GetParam(), ElementType::Double, Kind::Strict, threads, false) == alone) << threads;
  }
}

// ---- random nests ----

// Walks all points of a nest by definition, with the values of all variables.
class Walker {
 public:
  Walker(const LeafTask& task, std::vector<int64_t> values) : space_(task.space), values_(std::move(values)) {
    nest_ = make_leaf_nest(task.space, task.loops);
  }

  template <class F>
  void each_point(const F& f, size_t depth = 0) {
    if (!recover(depth)) return;
    if (depth == nest_.loops.size()) return f(static_cast<const std::vector<int64_t>&>(values_));
    for (int64_t x = 0; x < space_.extents[nest_.loops[depth]]; ++x) {
      values_[nest_.loops[depth]] = x;
      each_point(f, depth + 1);
    }
  }

 private:
  bool recover(size_t depth) {
    for (const Derivation& d : nest_.recovered[depth]) {
      if (const auto* t = std::get_if<Tile>(&d)) {
        values_[t->parent] = values_[t->outer] * space_.extents[t->inner] + values_[t->inner];
        if (values_[t->parent] >= space_.extents[t->parent]) return false;
      } else if (const auto* f = std::get_if<Fuse>(&d)) {
        values_[f->outer] = values_[f->fused] / space_.extents[f->inner];
        values_[f->inner] = values_[f->fused] % space_.extents[f->inner];
      } else {
        const auto& r = std::get<Rotation>(d);
        int64_t sum = values_[r.result];
        for (int by : r.by) sum += values_[by];
        values_[r.target] = sum % space_.extents[r.target];
      }
    }
    return true;
  }

  const IterationSpace<int64_t>& space_;
  std::vector<int64_t> values_;
  LeafNest nest_;
};

// Returns the number of shared loops. No two iterations of a shared loop may write the same element of the output.
int expect_disjoint_elements(const LeafTask& task, std::mt19937& random) {
  int loops = 0;
  if (const auto* parts = task.part->parts()) {
    for (const LeafPart& part : *parts) loops += expect_disjoint_elements(inner_task(task, part), random);
    return loops;
  }
  double points = 1;
  for (int v : task.loops) points *= static_cast<double>(task.space.extents[v]);
  if (points > 20000) return 0;
  std::vector<int64_t> values;
  for (int64_t extent : task.space.extents) values.push_back(extent > 0 ? static_cast<int64_t>(random()) % extent : 0);
  const std::vector<int>& output = task.part->compute()->operands[0].indices;
  for (int loop : loops_to_share(task.space, make_leaf_nest(task.space, task.loops), output)) {
    ++loops;
    std::map<std::vector<int64_t>, int64_t> iteration_of;
    Walker(task, values).each_point([&](const std::vector<int64_t>& at) {
      std::vector<int64_t> element;
      for (int v : output) element.push_back(at[v]);
      EXPECT_EQ(iteration_of.emplace(element, at[loop]).first->second, at[loop]) << task.space.names[loop];
    });
  }
  return loops;
}

TEST(SharedNest, LeavesEachElementToOneThread) {
  std::mt19937 random(1);
  int loops = 0;
  for (uint64_t seed = 1; seed <= 2000 && !testing::Test::HasFailure(); ++seed) {
    std::string text = property::generate_program(seed).text;
    SCOPED_TRACE(text);
    try {
      Plan plan = test::plan_text(text);
      for (const StagePlan& stage : plan.stages) loops += expect_disjoint_elements(whole_leaf(stage), random);
    } catch (const Error&) {
      continue;  // some programs have deliberate mistakes
    }
  }
  EXPECT_GT(loops, 2000);
}

// ---- which nests are shared ----

auto threads_now() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

// How many threads a run of the leaf starts. A team starts its helper threads at its first run.
int64_t helpers_started(const std::string& schedule, const std::string& settings) {
  Plan plan = test::plan_text(
      "param n = 82\ntensor A(n, n)\ntensor B(n, n)\nA(i, j) += B(i, k) * B(k, j)\nschedule\n" + schedule, settings);
  const StagePlan& stage = plan.stages[0];
  int64_t n = plan.params.at("n");
  std::vector<double> a(static_cast<size_t>(n * n)), b(a.size());
  View to{reinterpret_cast<std::byte*>(a.data()), 0, {n, 1}}, from{reinterpret_cast<std::byte*>(b.data()), 0, {n, 1}};
  Team team(3);
  LeafArguments arguments;
  arguments.values.assign(static_cast<size_t>(stage.space.size()), 0);
  arguments.operands = {to, from, from};
  arguments.team = &team;
  auto before = threads_now();
  make_leaf(stage, ElementType::Double, LeafChoice::Strict)->run(arguments);
  return threads_now() - before;
}

TEST(SharedNest, IsLargeEnough) {
  test::CacheFolder folder(cache());
  EXPECT_EQ(helpers_started("unroll(k, 2)", ""), 2);
  EXPECT_EQ(helpers_started("unroll(k, 2)", "n=80"), 0) << "there is too little to do";
  EXPECT_EQ(helpers_started("collapse(i, j, f)\ncollapse(f, k, g)\nunroll(g, 2)", ""), 0) << "no loop can be cut";
}

// Threads fill the workspace together, and then all read it.
TEST(SharedNest, FillsAWorkspace) {
  test::CacheFolder folder(cache());
  const std::string text =
      "param n = 82\ntensor A(n, n)\ntensor B(n, n)\ntensor C(n, n)\nA(i, j) = B(i, k) * C(k, j)\nschedule\n"
      "  precompute(B(i, k) * C(k, j), {i, j}, {iw, jw}, W)\n  unroll(jw, 2)\n";
  for (int threads : {1, 2, 3}) {
    RunOptions options;
    options.leaf = LeafChoice::Generated;
    options.threads = threads;
    test::run_text(text, "", options);
  }
}

}  // namespace
}  // namespace distal::core
