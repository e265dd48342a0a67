#include "lang/check.h"

#include <gtest/gtest.h>

#include "lang/parse.h"
#include "programs.h"

namespace distal::core {
namespace {

template <class F>
std::string refusal(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

// The rules hold for every module, also for one that was not parsed. `change` makes a mistake that has no line of text.
template <class F>
std::string refusal_after(const F& change) {
  Module module = parse_module(
      "param n = 4\nmachine M = Grid(2, 2)\ntensor A(n, n) : xy -> xy on M\ntensor B(n, n)\nA(i, j) = B(i, j)\n"
      "schedule\nsplit(i, io, ii, n)\n",
      "t.distal");
  check(module);
  change(module);
  std::string text = refusal([&] { check(module); });
  size_t at = text.find("error: ");
  return at == std::string::npos ? text : text.substr(at + 7, text.find('\n', at) - at - 7);
}

TEST(Check, ModulesThatWereParsedAreAccepted) { check(parse_module(test::summa, "summa")); }

TEST(Check, EveryPartOfAModule) {
  EXPECT_EQ(refusal_after([](Module& m) { m.params.push_back(m.params[0]); }), "param `n` is declared twice");
  EXPECT_EQ(refusal_after([](Module& m) { m.params.clear(); }), "unknown param `n`");
  EXPECT_EQ(refusal_after([](Module& m) { m.params[0].name = "a b"; }), "`a b` cannot be the name of a param");
  EXPECT_EQ(refusal_after([](Module& m) { m.machines[0].levels.clear(); }), "a machine needs at least one level");
  EXPECT_EQ(refusal_after([](Module& m) { m.machines[0].levels[0].extents.clear(); }),
            "a grid needs at least one dimension");
  EXPECT_EQ(refusal_after([](Module& m) { m.machines[0].name = "N"; }), "unknown machine `M`");
  EXPECT_EQ(refusal_after([](Module& m) { m.machines[0].name = ""; }), "`` cannot be the name of a machine");
  EXPECT_EQ(refusal_after([](Module& m) { m.machines[0].name = "B"; }), "unknown machine `M`");
  EXPECT_EQ(refusal_after([](Module& m) { m.tensors[1].name = "M"; }),
            "`M` cannot be a tensor: it is a machine already");
  EXPECT_EQ(refusal_after([](Module& m) { m.tensors[0].order = {1}; }),
            "the order of A is not a permutation of its 2 dimensions");
  EXPECT_EQ(refusal_after([](Module& m) { m.tensors[0].machine.reset(); }), "A has a distribution but no machine");
  EXPECT_EQ(refusal_after([](Module& m) { m.tensors[0].dimensions[1] = IntExpr(-1); }),
            "dimension 1 of A is -1; it must be at least 0");
  EXPECT_EQ(refusal_after([](Module& m) { m.tensors[0].distribution->levels[0].tensor_dimensions[1] = "x"; }),
            "`x` names two dimensions of A");
  EXPECT_EQ(refusal_after([](Module& m) { m.tensors[0].distribution->levels[0].cyclic["z"] = IntExpr(1); }),
            "`cyclic` of `z`, which is not a dimension of A");
  EXPECT_EQ(refusal_after([](Module& m) { m.tensors[0].distribution->levels.clear(); }),
            "A has 0 distributions, but "
            "its machine M = Grid(2, 2) has 1 level");
  EXPECT_EQ(refusal_after([](Module& m) {
              LevelDistribution& level = m.tensors[0].distribution->levels[0];
              level.span = {};
              level.machine_dimensions[1].role = Partition{"3"};
            }),
            "the distribution cuts dimension 3 of A, which has 2 dimensions");
  EXPECT_EQ(refusal_after([](Module& m) { m.statements[0].statement.lhs.tensor = "X"; }), "unknown tensor `X`");
  EXPECT_EQ(refusal_after([](Module& m) { m.statements[0].schedule[0].arguments[3] = IntExpr::name("q"); }),
            "unknown param `q`");
  EXPECT_EQ(refusal_after([](Module& m) {
              m.statements[0].schedule[0].arguments[1] = IndexVar{"1", {}};
            }),
            "`1` cannot be the name of a loop");
  EXPECT_EQ(refusal_after([](Module& m) { m.statements.clear(); }), "the program has no statement");
}

// Also where a later line cannot be read.
TEST(Check, TheFirstMistakeOfATextIsReported) {
  auto place = [](const std::string& text) { return refusal([&] { parse_module(text, "t"); }).substr(0, 5); };
  EXPECT_EQ(place("param n = m\ntensor A(\n"), "t:1:1");
  EXPECT_EQ(place("tensor A )\nparam n = m\n"), "t:1:1");
  EXPECT_EQ(place("tensor A\nA = 1\nschedule\n  split(i, j, k, q)\n  split(i)\nA = = 1\n"), "t:4:1");
}

}  // namespace
}  // namespace distal::core
