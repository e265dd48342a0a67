// Lowered programs, as text under tests/golden/, and the placement of tensors.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "ir/iteration_space.h"
#include "lower/compile.h"
#include "lower/place.h"
#include "plan/ownership.h"
#include "support/golden.h"
#include "support/layouts.h"
#include "support/programs.h"

namespace distal::core {
namespace {

using test::expect_golden;
using test::parse_text;
using test::tiled_gemm;

struct ProgramCase {
  std::string name;
  std::string text;
};
void PrintTo(const ProgramCase& c, std::ostream* out) { *out << c.text; }

std::vector<ProgramCase> program_cases() {
  const std::string distribute = "distribute({i, j}, {io, jo}, {ii, ji}, M)\n";
  const std::string nodes = R"(param n = 12
machine M = Grid(2, 2) of Grid(2)
tensor A(n, n) : xy -> xy, xy -> x on M
tensor B(n, n) : xy -> xy, xy -> x on M
tensor C(n, n) : xy -> xy, xy -> x on M
A(i, j) = B(i, k) * C(k, j)
schedule
distribute({i, j}, {io, jo}, {ii, ji}, M[0])
)";
  std::vector<ProgramCase> all{
      {"no_machine", "param n = 4\ntensor A(n, n)\ntensor B(n, n)\nA(i, j) = B(j, i)\n"},
      {"no_schedule", tiled_gemm("")},
      {"accumulate", "param n = 4\ntensor a(n)\ntensor b(n)\na(i) += b(i)\n"},
      {"scalar", "param n = 4\ntensor a\ntensor b(n)\na = b(i) * b(i)\n"},
      {"same_tensor_twice", tiled_gemm("").substr(0, tiled_gemm("").find("A(i, j) =")) +
                                "A(i, j) = B(i, k) * B(j, k)\nschedule\n" + distribute + "communicate({A, B}, jo)\n"},
      {"diagonal",
       "param n = 6\nmachine M = Grid(2)\ntensor a(n) : x -> x on M\ntensor B(n, n) : xy -> x on M\n"
       "a(i) = B(i, i)\nschedule\ndistribute(i, io, ii, M)\ncommunicate({a, B}, io)\n"},
      {"gated_term", tiled_gemm("").substr(0, tiled_gemm("").find("A(i, j) =")) +
                         "tensor D(ni, nj) : xy -> xy on M\nA(i, j) = B(i, k) * C(k, j) + 2 * D(i, j)\nschedule\n" +
                         distribute},
      {"default_communicate", tiled_gemm(distribute)},
      {"default_communicate_above_a_kernel", tiled_gemm(distribute + "substitute({ii, ji, k}, gemm)\n")},
      {"default_communicate_of_an_inexact_output",
       "param n = 7\nmachine M = Grid(2)\ntensor a(n) : x -> x cyclic(x = 2) on M\ntensor b(n) : x -> x on M\n"
       "a(i) = b(i)\nschedule\ndistribute(i, io, ii, a)\n"},
      {"default_communicate_beside_one_further_in",
       tiled_gemm(distribute + "split(k, ko, ki, chunk)\nreorder({io, jo, ko, ii, ji, ki})\ncommunicate(B, ko)\n")},
      {"bare_distribute_wraps_round", tiled_gemm("distribute({i, j}, M)\ncommunicate({A, B, C}, j)\n")},
      {"grid_in_place_wraps_round",
       tiled_gemm("distribute({i, j}, {io, jo}, {ii, ji}, Grid(5, 3))\ncommunicate({A, B, C}, jo)\n")},
      {"wraps_round_beside_its_names", tiled_gemm("split(k, i_turn, i_processor, chunk)\ndistribute({i, j}, M)\n")},
      {"distributed_sum", tiled_gemm("distribute({i, k}, {io, ko}, {ii, ki}, M)\ncommunicate({A, B, C}, ko)\n")},
      {"sum_in_time_outside", tiled_gemm("split(k, ko, ki, chunk)\nreorder({ko, i, j, ki})\n"
                                         "distribute({i, j}, M)\ncommunicate({A, B, C}, j)\n")},
      {"collapsed_and_divided", tiled_gemm("collapse(i, j, f)\ndivide(f, fo, fi, gx)\ndistribute(fo, M)\n"
                                           "communicate({A, B, C}, fo)\n")},
      {"parallel_leaf", tiled_gemm(distribute + "communicate({A, B, C}, jo)\nparallelize(ii)\n")},
      {"onto_a_face",
       "param n = 6\nmachine M = Grid(2, 3)\ntensor A(n, n) : xy -> 1y on M\ntensor B(n, n) : xy -> xy "
       "on M\nA(i, j) = B(i, j)\nschedule\ndistribute(j, jo, ji, A)\ncommunicate({A, B}, jo)\n"},
      {"onto_a_cyclic",
       "param n = 7\nmachine M = Grid(2)\ntensor a(n) : x -> x cyclic(x = 2) on M\ntensor b(n) : x -> "
       "x on M\na(i) = b(i)\nschedule\ndistribute(i, io, ii, a)\ncommunicate({a, b}, i_round)\n"},
      {"in_blocks",
       "param n = 7\nmachine M = Grid(2)\ntensor a(n) : x -> x cyclic(x = 2) on M\ntensor b(n) : x -> x on M\n"
       "a(i) = b(i)\nschedule\ndistribute(i, io, ii, a)\ncommunicate(a, i_round)\ncommunicate(b, io)\n"},
      {"two_levels_shared", nodes + "communicate({A, B, C}, jo)\ndistribute(ii, iio, iii, M[1])\n"},
      {"two_levels_apart", nodes + "distribute(ii, iio, iii, M[1])\ncommunicate({A, B, C}, iio)\n"},
      {"two_levels_inner_sum", nodes + "communicate({A, B, C}, jo)\ndistribute(k, ko, ki, M[1])\n"},
  };
  for (const char* at : {"io", "jo", "ko", "ii", "ji", "ki"}) {
    all.push_back(
        {"communicate_at_" + std::string(at),
         tiled_gemm(distribute + "split(k, ko, ki, chunk)\nreorder({io, jo, ko, ii, ji, ki})\ncommunicate({A, B, C}, " +
                    at + ")\n")});
  }
  return all;
}

class ProgramGolden : public testing::TestWithParam<ProgramCase> {};

TEST_P(ProgramGolden, Text) {
  expect_golden("program/" + GetParam().name + ".txt", to_string(*compile(parse_text(GetParam().text))));
}

INSTANTIATE_TEST_SUITE_P(Programs, ProgramGolden, testing::ValuesIn(program_cases()),
                         [](const auto& tested) { return tested.param.name; });

class AlgorithmProgram : public testing::TestWithParam<std::string> {};

TEST_P(AlgorithmProgram, Text) {
  std::string program, placement;
  compile(parse_text(test::algorithm_text(GetParam())), [&](const std::string& pass, const std::string& text) {
    if (pass == "program") program += text;
    if (pass == "placement") placement += text;
  });
  expect_golden("program/algorithms/" + GetParam() + ".txt", program);
  expect_golden("placement/algorithms/" + GetParam() + ".txt", placement);
}

INSTANTIATE_TEST_SUITE_P(Files, AlgorithmProgram, testing::ValuesIn(test::algorithm_names()),
                         [](const auto& tested) { return tested.param; });

TEST(Compile, ShowsEveryPassInOrder) {
  std::vector<std::string> passes;
  compile(parse_text(test::algorithm_text("ttv")),
          [&](const std::string& pass, const std::string&) { passes.push_back(pass); });
  EXPECT_EQ(passes, (std::vector<std::string>{"module", "placement", "placement", "placement", "schedule", "schedule",
                                              "schedule", "program"}));
}

// ---- placement by the paper's five steps ----

TEST(Placement, TheExampleOfThePaper) {
  Tensor t = test::tensor_of({"", "8, 8", "xy -> x", "Grid(4)"});
  EXPECT_EQ(to_string(placement_of(t)),
            "∀xo ∀xi ∀y T(x, y) = T(x, y) s.t. divide(x, xo, xi, 4), distribute(xo, level 0 dimension 0), "
            "communicate(T, xo)");
}

TEST(Placement, WithoutADistribution) {
  Tensor t = parse_text("tensor T(4, 5)\ntensor other\nother = 1\n").tensors[0];
  EXPECT_EQ(to_string(placement_of(t)), "∀d0 ∀d1 T(d0, d1) = T(d0, d1)");
}

// How often each processor touches each element, by machine coordinates and element.
using Touched = std::map<std::pair<Coordinates, Coordinates>, int>;

// Runs the placement statement point by point.
Touched run_placement(const Tensor& tensor) {
  Nest nest = nest_of(placement_of(tensor));
  MachineShape machine = shape_of(*tensor.machine, {});
  std::map<std::string, IntExpr> extents;
  std::vector<IndexVar> own;
  const Access& access = nest.body.as<Assignment>()->lhs;
  for (size_t d = 0; d < access.indices.size(); ++d) {
    own.push_back(access.indices[d]);
    extents.emplace(access.indices[d].name, tensor.dimensions[d]);
  }
  // The extent of a broadcast variable is that of its machine dimension.
  std::map<std::string, int> dimension_of;
  Coordinates held(machine.extents.size(), -1);
  for (const Relation& r : nest.relations) {
    if (const auto* d = std::get_if<DistributeRelation>(&r)) {
      dimension_of[d->variable.name] = machine.dimension(*d->level, *d->dimension);
    }
    if (const auto* h = std::get_if<HoldRelation>(&r)) {
      held[machine.dimension(h->level, h->dimension)] = h->face.evaluate({});
    }
  }
  std::set<std::string> made;
  for (const Relation& r : nest.relations) {
    if (const auto* s = std::get_if<SplitRelation>(&r)) made.insert({s->outer.name, s->inner.name});
    if (const auto* d = std::get_if<DivideRelation>(&r)) made.insert({d->outer.name, d->inner.name});
    if (const auto* c = std::get_if<CollapseRelation>(&r)) made.insert(c->fused.name);
  }
  for (const IndexVar& v : nest.loops) {
    if (made.count(v.name) > 0 || extents.count(v.name) > 0) continue;
    own.push_back(v);
    extents.emplace(v.name, IntExpr(machine.extents[dimension_of.at(v.name)]));
  }
  IterationSpace<IntExpr> symbolic = make_space(own, extents, nest.relations);
  IterationSpace<int64_t> space = evaluate(symbolic, {});

  Touched touched;
  std::vector<int64_t> value(static_cast<size_t>(space.size()), 0);
  std::function<void(size_t)> loop = [&](size_t depth) {
    if (depth < nest.loops.size()) {
      int v = find_variable(symbolic, nest.loops[depth].name);
      for (int64_t x = 0; x < space.extents[v]; ++x) {
        value[v] = x;
        loop(depth + 1);
      }
      return;
    }
    for (auto d = space.derivations.rbegin(); d != space.derivations.rend(); ++d) {
      if (const auto* f = std::get_if<Fuse>(&*d)) {
        value[f->outer] = value[f->fused] / space.extents[f->inner];
        value[f->inner] = value[f->fused] % space.extents[f->inner];
        continue;
      }
      const auto& t = std::get<Tile>(*d);
      value[t.parent] = value[t.outer] * space.extents[t.inner] + value[t.inner];
      if (value[t.parent] >= space.extents[t.parent]) return;
    }
    Coordinates processor(machine.extents.size(), 0), element;
    for (size_t m = 0; m < processor.size(); ++m) processor[m] = held[m] >= 0 ? held[m] : 0;
    for (const auto& [name, m] : dimension_of) processor[m] = value[find_variable(symbolic, name)];
    for (const IndexVar& v : access.indices) element.push_back(value[find_variable(symbolic, v.name)]);
    ++touched[{processor, element}];
  };
  loop(0);
  return touched;
}

class PlacementOf : public testing::TestWithParam<test::Layout> {};

TEST_P(PlacementOf, GivesEveryProcessorExactlyItsPiece) {
  Tensor tensor = test::tensor_of(GetParam());
  Touched touched = run_placement(tensor);
  Ownership owners(tensor, {});
  std::set<std::pair<Coordinates, Coordinates>> owned;
  Coordinates at(owners.shape().size(), 0);
  while (true) {
    for (int64_t p : owners.processors_of(owners.colour_of(at))) owned.insert({owners.machine().coordinates(p), at});
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == owners.shape()[d - 1]) at[--d] = 0;
    if (d == 0) break;
  }
  EXPECT_EQ(touched.size(), owned.size());
  for (const auto& [key, times] : touched) {
    EXPECT_EQ(times, 1);
    EXPECT_TRUE(owned.count(key) > 0);
  }
  expect_golden("placement/" + GetParam().name + ".txt", to_string(placement_of(tensor)) + "\n");
}

INSTANTIATE_TEST_SUITE_P(Layouts, PlacementOf, testing::ValuesIn(test::all_layouts()),
                         [](const auto& tested) { return tested.param.name; });

// Names of the user may equal names that placement generates.
TEST(Placement, NamesOfDimensionsDoNotCollide) {
  Tensor t = test::tensor_of({"", "7, 9", "x, x1 -> x, x1, x, x1 -> x, x1", "Grid(2, 2) of Grid(2, 2)"});
  std::set<std::string> names;
  Nest nest = nest_of(placement_of(t));
  for (const IndexVar& v : nest.loops) EXPECT_TRUE(names.insert(v.name).second) << v.name << " is two loops";
}

// Each round doubles the bounds expressions of i and j; without a limit they exhaust the memory.
TEST(Program, EndlessBoundsAreRefused) {
  std::string text = "param n = 8\ntensor A(n, n)\ntensor B(n, n)\nA(i, j) = B(i, j)\nschedule\n";
  std::string outer = "i", inner = "j";
  for (int round = 0; round < 40; ++round) {
    std::string r = std::to_string(round);
    text += "collapse(" + outer + ", " + inner + ", f" + r + ")\nsplit(f" + r + ", o" + r + ", n" + r + ", n)\n";
    outer = "o" + r;
    inner = "n" + r;
  }
  text += "communicate({A, B}, " + inner + ")\n";
  try {
    compile(parse_text(text));
    FAIL() << "it was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "the schedule makes bounds of more than 10,000 operators");
  }
}

}  // namespace
}  // namespace distal::core
