// The loop nest before and after every command, as text under tests/golden/.

#include <gtest/gtest.h>

#include "schedule/schedule.h"
#include "support/golden.h"
#include "support/programs.h"

namespace distal::core {
namespace {

using test::expect_golden;
using test::parse_text;

struct ScheduleCase {
  std::string name;
  std::string text;
};
void PrintTo(const ScheduleCase& c, std::ostream* out) { *out << c.text; }

// The statement, then each command with the nest after it, as a loop nest and on one line.
std::string trace_text(const std::string& program) {
  Module module = parse_text(program);
  std::string out;
  for (const ScheduledStatement& s : module.statements) {
    ScheduleTrace trace = apply_schedule(module, s);
    EXPECT_EQ(trace.stages.size(), s.schedule.size() + 1);
    for (size_t i = 0; i < trace.stages.size(); ++i) {
      out += (i == 0 ? to_string(s.statement) : to_string(s.schedule[i - 1])) + "\n";
      out += loop_nest_text(trace.stages[i]) + to_string(trace.stages[i]) + "\n\n";
    }
  }
  return out;
}

const char* const kGemm = R"(param n = 10, g = 2, chunk = 3
machine M = Grid(g, g)
machine L = Grid(g)
machine Q = Grid(g, g, g)
machine H = Grid(g, g) of Grid(g)
tensor A(n, n)
tensor B(n, n)
tensor C(n, n)
)";

std::string gemm(const std::string& schedule) {
  return std::string(kGemm) + "A(i, j) = B(i, k) * C(k, j)\nschedule\n" + schedule;
}

// A copy into a tensor with that distribution.
std::string onto(const std::string& machine, const std::string& distribution, const std::string& schedule) {
  return "param n = 10\nmachine M = " + machine + "\ntensor A(n, n) : " + distribution +
         " on M\ntensor B(n, n) : xy -> xy on Grid(2, 3)\ntensor D(n, n)\nA(i, j) = D(i, j)\nschedule\n" + schedule;
}

const std::vector<ScheduleCase>& cases() {
  static const std::vector<ScheduleCase> all{
      {"split", gemm("split(i, io, ii, chunk)\nsplit(k, ko, ki, 5)")},
      {"divide_even", gemm("divide(i, io, ii, 5)")},
      {"divide_uneven", gemm("divide(j, jo, ji, 3)")},
      {"divide_then_split", gemm("divide(i, io, ii, 2)\nsplit(ii, iio, iii, 3)")},
      {"collapse", gemm("collapse(i, j, f)")},
      {"collapse_then_divide", gemm("collapse(i, j, f)\ndivide(f, fo, fi, 4)")},
      {"collapse_all", gemm("collapse(i, j, f)\ncollapse(f, k, g)")},
      {"reorder_full", gemm("reorder(k, j, i)")},
      {"reorder_partial", gemm("split(i, io, ii, 4)\nreorder({k, io})")},
      {"reorder_same", gemm("reorder({i, j, k})")},
      {"rotate_by_one", gemm("rotate(k, i, kr)")},
      {"rotate_by_two", gemm("divide(k, ko, ki, 3)\nrotate(ko, {i, j}, kos)")},
      {"rotate_a_rotated", gemm("rotate(k, i, kr)\nrotate(kr, j, ks)")},
      {"distribute_compound_1", gemm("distribute(i, io, ii, L)")},
      {"distribute_compound_2", gemm("distribute({i, j}, {io, jo}, {ii, ji}, M)")},
      {"distribute_compound_2_swapped", gemm("distribute({j, i}, {jo, io}, {ji, ii}, M)")},
      {"distribute_compound_3", gemm("distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, Q)")},
      {"distribute_compound_inner_loops", gemm("distribute({k, i}, {ko, io}, {ki, ii}, M)")},
      {"distribute_grid_in_place", gemm("distribute({i, k}, {io, ko}, {ii, ki}, Grid(3, 2))")},
      {"distribute_bare", gemm("divide(i, io, ii, g)\ndistribute(io, M)\ndistribute(j, M)")},
      {"distribute_bare_below_a_loop", gemm("split(k, ko, ki, 4)\nreorder({ko, i, j, ki})\ndistribute({i, j}, M)")},
      {"distribute_bare_level",
       gemm("distribute({i, j}, {io, jo}, {ii, ji}, H[0])\ndivide(ii, iio, iii, g)\ndistribute(iio, H[1])")},
      {"distribute_below_a_sequential_loop",
       gemm("split(i, is, ip, 5)\ndistribute({ip, j}, {io, jo}, {ii, ji}, M)\nreorder({is, io, jo, ii, ji, k})")},
      {"distribute_two_levels",
       gemm("distribute({i, j}, {io, jo}, {ii, ji}, H[0])\ndistribute(ii, iio, iii, H[1])\nsplit(k, ko, ki, 2)")},
      {"distribute_two_levels_over_the_sum",
       gemm("distribute({i, k}, {io, ko}, {ii, ki}, H[0])\ndistribute(ki, kio, kii, H[1])")},
      {"distribute_onto_blocked", onto("Grid(2, 3)", "xy -> xy", "distribute({i, j}, {io, jo}, {ii, ji}, A)")},
      {"distribute_onto_transposed", onto("Grid(2, 3)", "xy -> yx", "distribute({i, j}, {io, jo}, {ii, ji}, A)")},
      {"distribute_onto_cyclic",
       onto("Grid(2, 3)", "xy -> xy cyclic(x = 2, y)", "distribute({i, j}, {io, jo}, {ii, ji}, A)")},
      {"distribute_onto_a_face", onto("Grid(2, 3)", "xy -> 1y", "distribute(j, jo, ji, A)")},
      {"distribute_onto_a_broadcast", onto("Grid(2, 3)", "xy -> x*", "distribute(i, io, ii, A)")},
      {"distribute_onto_two_levels",
       onto("Grid(2, 3) of Grid(2)", "xy -> xy, xy -> y",
            "distribute({i, j}, {io, jo}, {ii, ji}, A[0])\ndistribute(ji, jio, jii, A[1])")},
      {"communicate_at_each_loop",
       gemm("distribute({i, j}, {io, jo}, {ii, ji}, M)\ncommunicate(A, io)\n"
            "communicate(B, jo)\ncommunicate(C, ii)\ncommunicate(A, ji)\ncommunicate(B, k)")},
      {"communicate_twice", gemm("communicate({A, B}, i)\ncommunicate(A, j)\ncommunicate({B, A}, k)")},
      {"substitute", gemm("substitute({i, j, k}, gemm)")},
      {"substitute_below", gemm("split(k, ko, ki, 4)\nreorder({ko, i, j, ki})\nsubstitute({ki, j, i}, gemm)")},
      {"parallelize", gemm("parallelize(i)\nparallelize(j)")},
      {"parallelize_inner", gemm("collapse(i, j, f)\nsplit(f, fo, fi, 4)\nparallelize(fi)")},
      {"parallelize_sums", gemm("reorder({k, i, j})\nparallelize(k, atomics)")},
      {"unroll_and_vectorize", gemm("split(k, ko, ki, 4)\nunroll(ki, 4)\nreorder({i, ko, ki, j})\nvectorize(j)")},
      {"precompute", gemm("reorder({i, k, j})\nprecompute(B(i, k) * C(k, j), {j}, {jw}, W)")},
      {"precompute_a_factor", gemm("split(k, ko, ki, 4)\nsplit(j, jo, ji, 4)\nreorder({jo, ko, i, ki, ji})\n"
                                   "reorder({jo, ko, ki, ji, i})\nprecompute(C(k, j), {ki, ji}, {kw, jw}, W)")},
      {"precompute_then_schedule_both_sides",
       gemm("reorder({i, k, j})\nprecompute(B(i, k) * C(k, j), {j}, {jw}, W)\nsplit(k, ko, ki, 4)\n"
            "split(jw, jwo, jwi, 5)\nreorder({jwo, ko})\nvectorize(jwi)\nsplit(j, jo, ji, 3)\nunroll(ji, 3)")},
      {"precompute_twice", std::string(kGemm) +
                               "A(i, l) = B(i, j) * C(j, k) * B(k, l)\nschedule\nreorder({i, j, k, l})\n"
                               "precompute(C(j, k) * B(k, l), {l}, {lw}, V)\nprecompute(V(l), {}, {}, W)"},
      {"precompute_a_scalar", gemm("precompute(B(i, k) * C(k, j), {}, {}, w)")},
      {"distribute_by_notation", gemm("distribute({i, k}, {io, ko}, {ii, ki}, xy -> yx on M)")},
      {"distribute_by_notation_on_a_face", gemm("distribute({i, j}, {io, jo}, {ii, ji}, x, y -> x, 1, y on Q)")},
      {"distribute_onto_cyclic_with_rounds",
       onto("Grid(2, 3)", "xy -> xy cyclic(x = 2, y)",
            "distribute({i, j}, {io, jo}, {ir, ii, jr, ji}, A)\ncommunicate({A, D}, jr)")},
      {"distribute_made_up_names_give_way",
       onto("Grid(2, 3)", "xy -> xy cyclic(x = 2, y)",
            "distribute({i, j}, {io, jo}, {ii, ji}, A)\nsplit(ii, i_round, i_block, 1)\ncommunicate(A, i_round_)")},
      {"distribute_by_notation_cyclic", gemm("distribute({i}, {io}, {ii}, x -> x cyclic(x = 2) on L)")},
      {"distribute_by_notation_at_a_level", gemm("distribute({i}, {io}, {ii}, x -> x on H[1])")},
      {"no_schedule", std::string(kGemm) + "A(i, j) = B(i, k) * C(k, j) + B(i, j) - 2 * C(j, j)\n"},
      {"accumulate", std::string(kGemm) + "A(i, j) += B(j, i)\nschedule\nreorder({j, i})\n"},
      {"subtract", std::string(kGemm) + "A(i, j) -= B(i, k) * C(k, j) - 2 * B(i, j)\nschedule\nreorder({k, i})\n"},
      {"subtract_a_kernel",
       std::string(kGemm) + "A(i, j) -= B(i, k) * C(k, j)\nschedule\nsubstitute({i, j, k}, gemm)\n"},
      {"broadcast", "param n = 4\ntensor a(n)\ntensor b(n)\na(i) = b(j)\nschedule\nsplit(j, jo, ji, 2)\n"},
      {"broadcast_a_number", "param n = 4\ntensor A(n, n)\nA(i, j) = 2 * n - 1\nschedule\ncollapse(i, j, f)\n"},
      {"shifted",
       "param n = 6, no = 2\ntensor A(n)\ntensor B(n + no)\nA(i + 1) += B(i + no) * B(i + 0)\n"
       "schedule\nsplit(i, io, ii, 2)\n"},
      {"output_on_the_right",
       std::string(kGemm) + "A(i, j) = 2 * B(i, k) * C(k, j) + 3 * A(i, j)\nschedule\nreorder({k, i})\n"},
      {"scalar", "param n = 4\ntensor a\ntensor b(n)\na = b(i) * b(i)\nschedule\nsplit(i, io, ii, 3)\n"},
  };
  return all;
}

class ScheduleGolden : public testing::TestWithParam<ScheduleCase> {};

TEST_P(ScheduleGolden, NestAfterEachCommand) {
  expect_golden("schedule/" + GetParam().name + ".txt", trace_text(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(Commands, ScheduleGolden, testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

class AlgorithmGolden : public testing::TestWithParam<std::string> {};

TEST_P(AlgorithmGolden, NestAfterEachCommand) {
  expect_golden("schedule/algorithms/" + GetParam() + ".txt", trace_text(test::algorithm_text(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Files, AlgorithmGolden, testing::ValuesIn(test::algorithm_names()),
                         [](const auto& tested) { return tested.param; });

TEST(ScheduleTrace, ACommandDoesNotChangeItsArgument) {
  Module module = parse_text(gemm("split(i, io, ii, chunk)"));
  const ScheduledStatement& s = module.statements[0];
  Stmt before = concretize(s.statement);
  Stmt copy = before;
  Stmt after = apply_command(before, s.schedule[0], ScheduleContext{module, s.statement, machine_of(module, s)});
  EXPECT_TRUE(before == copy);
  EXPECT_FALSE(before == after);
  EXPECT_EQ(to_string(before), "∀i ∀j ∀k A(i, j) += B(i, k) * C(k, j)");
  EXPECT_EQ(to_string(after), "∀io ∀ii ∀j ∀k A(i, j) += B(i, k) * C(k, j) s.t. split(i, io, ii, chunk)");
}

// A text must name at least one variable. A rotation by none only renames the loop.
TEST(ScheduleTrace, RotateByNone) {
  Module module = parse_text(gemm(""));
  const ScheduledStatement& s = module.statements[0];
  Command command{"rotate", {IndexVar{"k", {}}, std::vector<IndexVar>{}, IndexVar{"kr", {}}}, {}};
  Stmt after = apply_command(concretize(s.statement), command, ScheduleContext{module, s.statement, std::nullopt});
  EXPECT_EQ(to_string(after), "∀i ∀j ∀kr A(i, j) += B(i, k) * C(k, j) s.t. rotate(k, {}, kr)");
}

// The rewrite rules of the paper.
TEST(ScheduleTrace, TheRulesOfThePaper) {
  auto last = [](const std::string& program) {
    Module module = parse_text(program);
    return to_string(apply_schedule(module, module.statements[0]).result());
  };
  EXPECT_EQ(last(gemm("divide(i, io, ii, 4)")), "∀io ∀ii ∀j ∀k A(i, j) += B(i, k) * C(k, j) s.t. divide(i, io, ii, 4)");
  EXPECT_EQ(last(gemm("distribute(i, L)")), "∀i ∀j ∀k A(i, j) += B(i, k) * C(k, j) s.t. distribute(i, level 0)");
  EXPECT_EQ(last(gemm("rotate(k, {i, j}, r)")), "∀i ∀j ∀r A(i, j) += B(i, k) * C(k, j) s.t. rotate(k, {i, j}, r)");
  EXPECT_EQ(last(gemm("communicate(B, j)")), "∀i ∀j ∀k A(i, j) += B(i, k) * C(k, j) s.t. communicate(B, j)");
}

// A compound distribute is divide, reorder and distribute.
TEST(ScheduleTrace, CompoundDistributeIsALibraryOverPrimitives) {
  auto loops = [](const std::string& program) {
    Module module = parse_text(program);
    Nest nest = nest_of(apply_schedule(module, module.statements[0]).result());
    std::vector<std::string> names;
    for (const IndexVar& v : nest.loops) names.push_back(v.name + (nest.is_distributed(v) ? "!" : ""));
    return names;
  };
  EXPECT_EQ(
      loops(gemm("distribute({i, j}, {io, jo}, {ii, ji}, M)")),
      loops(gemm("divide(i, io, ii, g)\ndivide(j, jo, ji, g)\nreorder({io, jo, ii, ji})\ndistribute({io, jo}, M)")));
}

}  // namespace
}  // namespace distal::core
