// Bounds analysis, compared with a walk over all points; and concrete index notation.

#include "ir/bounds.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "ir/concrete.h"
#include "support/programs.h"

namespace distal::core {
namespace {

using Point = std::vector<int64_t>;

// A random tree of splits, collapses and rotations over a few variables.
struct RandomSpace {
  IterationSpace<int64_t> space;
  std::vector<int> loops;  // the variables that are loops, in a random order
  int own = 0;             // the statement's variables are 0 .. own - 1
};

int add(IterationSpace<int64_t>& space, int64_t extent) {
  space.names.push_back("v" + std::to_string(space.names.size()));
  space.extents.push_back(extent);
  return space.size() - 1;
}

RandomSpace random_space(std::mt19937& random) {
  auto pick = [&](int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); };
  RandomSpace out;
  out.own = static_cast<int>(pick(1, 3));
  for (int v = 0; v < out.own; ++v) out.loops.push_back(add(out.space, pick(1, 7)));
  for (int64_t steps = pick(0, 4); steps > 0; --steps) {
    size_t at = static_cast<size_t>(pick(0, static_cast<int64_t>(out.loops.size()) - 1));
    int v = out.loops[at];
    int64_t kind = pick(0, 3);
    if (kind <= 1) {
      int64_t size = pick(1, 4);
      if (kind == 1) size = ceil_div(out.space.extents[v], pick(1, 4));  // divide
      int outer = add(out.space, ceil_div(out.space.extents[v], size));
      int inner = add(out.space, size);
      if (kind == 1) out.space.extents[outer] = std::max<int64_t>(out.space.extents[outer], pick(1, 4));
      out.space.derivations.emplace_back(Tile{v, outer, inner});
      out.loops[at] = outer;
      out.loops.insert(out.loops.begin() + static_cast<std::ptrdiff_t>(at) + 1, inner);
    } else if (kind == 2 && at + 1 < out.loops.size()) {
      int w = out.loops[at + 1];
      int fused = add(out.space, out.space.extents[v] * out.space.extents[w]);
      out.space.derivations.emplace_back(Fuse{v, w, fused});
      out.loops[at] = fused;
      out.loops.erase(out.loops.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    } else if (kind == 3 && at > 0) {
      int result = add(out.space, out.space.extents[v]);
      std::vector<int> by(out.loops.begin(), out.loops.begin() + pick(1, static_cast<int64_t>(at)));
      out.space.derivations.emplace_back(Rotation{v, by, result});
      out.loops[at] = result;
    }
  }
  std::shuffle(out.loops.begin(), out.loops.end(), random);
  return out;
}

// Recovers all variables from the loops. Returns false past the end of a tile.
bool recover(const IterationSpace<int64_t>& space, Point& value) {
  for (auto d = space.derivations.rbegin(); d != space.derivations.rend(); ++d) {
    if (const auto* t = std::get_if<Tile>(&*d)) {
      value[t->parent] = value[t->outer] * space.extents[t->inner] + value[t->inner];
      if (value[t->parent] >= space.extents[t->parent]) return false;
    } else if (const auto* f = std::get_if<Fuse>(&*d)) {
      value[f->outer] = value[f->fused] / space.extents[f->inner];
      value[f->inner] = value[f->fused] % space.extents[f->inner];
    } else if (const auto* r = std::get_if<Rotation>(&*d)) {
      int64_t sum = value[r->result];
      for (int by : r->by) sum += value[by];
      value[r->target] = sum % space.extents[r->target];
    }
  }
  return true;
}

void for_each(const RandomSpace& s, const std::vector<bool>& fixed, Point& value,
              const std::function<void(const Point&)>& f, size_t depth = 0) {
  if (depth == s.loops.size()) {
    Point all = value;
    if (recover(s.space, all)) f(all);
    return;
  }
  int v = s.loops[depth];
  if (fixed[v]) return for_each(s, fixed, value, f, depth + 1);
  for (int64_t x = 0; x < s.space.extents[v]; ++x) {
    value[v] = x;
    for_each(s, fixed, value, f, depth + 1);
  }
}

std::string shown(const RandomSpace& s, const std::vector<Interval<int64_t>>& intervals) {
  std::string out;
  for (const Derivation& d : s.space.derivations) {
    if (const auto* t = std::get_if<Tile>(&d)) out += fmt::format("v{} = v{}, v{}; ", t->parent, t->outer, t->inner);
    if (const auto* f = std::get_if<Fuse>(&d))
      out += fmt::format("v{} = fuse v{}, v{}; ", f->fused, f->outer, f->inner);
    if (const auto* r = std::get_if<Rotation>(&d)) {
      out += fmt::format("v{} = v{} rotated by", r->target, r->result);
      for (int by : r->by) out += fmt::format(" v{}", by);
      out += "; ";
    }
  }
  for (int v = 0; v < s.space.size(); ++v) {
    const Interval<int64_t>& i = intervals[v];
    out += fmt::format("v{} < {} in {}:{}{} ", v, s.space.extents[v], i.lo, i.hi, i.exact ? "" : " box");
  }
  return out;
}

TEST(Bounds, HoldEveryPointAndAreTightWhenTheySayExact) {
  std::mt19937 random(11);
  int exact = 0, boxes = 0;
  for (int round = 0; round < 3000; ++round) {
    RandomSpace s = random_space(random);
    auto variables = static_cast<size_t>(s.space.size());
    std::vector<bool> fixed(variables, false);
    Point value(variables, 0);
    std::vector<Interval<int64_t>> intervals(variables);
    for (int v : s.loops) {
      fixed[v] = random() % 2 == 0;
      value[v] = fixed[v] ? static_cast<int64_t>(random() % static_cast<uint64_t>(s.space.extents[v])) : 0;
      intervals[v] = fixed[v] ? Interval<int64_t>{value[v], value[v] + 1, true, true}
                              : Interval<int64_t>{0, s.space.extents[v], true, false};
    }
    bool any = bounds(s.space, intervals);
    std::set<Point> points;
    std::vector<std::set<int64_t>> seen(variables);
    for_each(s, fixed, value, [&](const Point& p) {
      points.insert(Point(p.begin(), p.begin() + s.own));
      for (int v = 0; v < s.own; ++v) seen[v].insert(p[v]);
    });
    EXPECT_TRUE(any || points.empty()) << shown(s, intervals) << ": bounds finds no iterations, but there are some";
    if (!any) continue;
    bool all_exact = true;
    int64_t volume = 1;
    for (int v = 0; v < s.own; ++v) {
      for (int64_t x : seen[v]) {
        EXPECT_GE(x, intervals[v].lo) << shown(s, intervals) << " variable " << v;
        EXPECT_LT(x, intervals[v].hi) << shown(s, intervals) << " variable " << v;
      }
      EXPECT_GE(intervals[v].lo, 0);
      EXPECT_LE(intervals[v].hi, s.space.extents[v]);
      all_exact = all_exact && intervals[v].exact;
      volume *= intervals[v].hi - intervals[v].lo;
    }
    // Exact intervals mean that every combination of their values occurs.
    EXPECT_TRUE(!all_exact || static_cast<int64_t>(points.size()) == volume)
        << shown(s, intervals) << ": " << points.size() << " points, but exact intervals of " << volume;
    (all_exact ? exact : boxes) += 1;
  }
  EXPECT_GT(exact, 1000);
  EXPECT_GT(boxes, 200);
}

TEST(Bounds, TenIntoTwoFivesIntoThrees) {
  // i = io * 5 + ii, ii = iio * 3 + iii.
  IterationSpace<IntExpr> symbolic = make_space({{"i", {}}}, {{"i", IntExpr(10)}},
                                                {DivideRelation{{"i", {}}, {"io", {}}, {"ii", {}}, IntExpr(2)},
                                                 SplitRelation{{"ii", {}}, {"iio", {}}, {"iii", {}}, IntExpr(3)}});
  IterationSpace<int64_t> space = evaluate(symbolic, {});
  EXPECT_EQ(space.names, (std::vector<std::string>{"i", "io", "ii", "iio", "iii"}));
  EXPECT_EQ(space.extents, (std::vector<int64_t>{10, 2, 5, 2, 3}));
  std::vector<Interval<int64_t>> at(5);
  at[1] = {1, 2, true, true};
  at[3] = {1, 2, true, true};
  at[4] = {0, 3, true, false};
  ASSERT_TRUE(bounds(space, at));
  // The second tile of 3 in the second tile of 5 has two elements: it is clipped at the enclosing tile.
  EXPECT_EQ(at[0].lo, 8);
  EXPECT_EQ(at[0].hi, 10);
  at[1] = {0, 1, true, true};
  ASSERT_TRUE(bounds(space, at));
  EXPECT_EQ(at[0].lo, 3);
  EXPECT_EQ(at[0].hi, 5);
}

TEST(Bounds, ATilePastTheEndHasNothing) {
  IterationSpace<int64_t> space;
  space.names = {"i", "io", "ii"};
  space.extents = {9, 4, 3};
  space.derivations.emplace_back(Tile{0, 1, 2});
  std::vector<Interval<int64_t>> at(3);
  at[1] = {3, 4, true, true};
  at[2] = {0, 3, true, false};
  EXPECT_FALSE(bounds(space, at));
}

TEST(Bounds, Beyond32Bits) {
  IterationSpace<int64_t> space;
  space.names = {"i", "io", "ii"};
  space.extents = {100'000'000'000, 7, ceil_div(100'000'000'000, 7)};
  space.derivations.emplace_back(Tile{0, 1, 2});
  std::vector<Interval<int64_t>> at(3);
  at[1] = {6, 7, true, true};
  at[2] = {0, space.extents[2], true, false};
  ASSERT_TRUE(bounds(space, at));
  EXPECT_EQ(at[0].lo, 6 * 14'285'714'286);
  EXPECT_EQ(at[0].hi, 100'000'000'000);
}

// ---- derivations of variables ----

TEST(IterationSpaceTest, WhatAVariableIsRecoveredFrom) {
  IterationSpace<IntExpr> space =
      make_space({{"i", {}}, {"k", {}}}, {{"i", IntExpr::name("n")}, {"k", IntExpr::name("n")}},
                 {DivideRelation{{"i", {}}, {"io", {}}, {"ii", {}}, IntExpr(2)},
                  DivideRelation{{"k", {}}, {"ko", {}}, {"ki", {}}, IntExpr(2)},
                  RotateRelation{{"ko", {}}, {{"io", {}}}, {"kos", {}}}});
  int n = space.size();
  auto names = [&](const std::vector<bool>& set) {
    std::set<std::string> out;
    for (int v = 0; v < n; ++v) {
      if (set[v]) out.insert(space.names[v]);
    }
    return out;
  };
  EXPECT_EQ(names(recovered_from(space.derivations, n, find_variable(space, "k"))),
            (std::set<std::string>{"k", "ko", "ki", "kos", "io"}));
  EXPECT_EQ(names(recovered_from(space.derivations, n, find_variable(space, "i"))),
            (std::set<std::string>{"i", "io", "ii"}));
  EXPECT_EQ(names(recovered_variables(space.derivations, n)), (std::set<std::string>{"i", "k", "ko"}));
  EXPECT_EQ(recovered_by(Fuse{1, 0, 2}), (std::vector<int>{1, 0}));
  // The loops by which k is rotated only change the order of its iterations.
  EXPECT_EQ(names(made_from(space.derivations, n, find_variable(space, "kos"))),
            (std::set<std::string>{"kos", "ko", "k"}));
  EXPECT_EQ(names(made_from(space.derivations, n, find_variable(space, "io"))), (std::set<std::string>{"io", "i"}));
}

// ---- concrete index notation ----

Stmt concrete(const std::string& statement) {
  return concretize(
      test::parse_text("param n = 4\ntensor A(n, n)\ntensor B(n, n)\ntensor C(n, n)\ntensor a\n" + statement + "\n")
          .statements[0]
          .statement);
}

TEST(Concrete, OrderedByFirstAppearance) {
  EXPECT_EQ(to_string(concrete("A(i, j) = B(i, k) * C(k, j)")), "∀i ∀j ∀k A(i, j) += B(i, k) * C(k, j)");
  EXPECT_EQ(to_string(concrete("A(i, j) = B(l, k) * C(k, j) * B(l, i)")),
            "∀i ∀j ∀l ∀k A(i, j) += B(l, k) * C(k, j) * B(l, i)");
  EXPECT_EQ(to_string(concrete("A(j, i) = B(i, j)")), "∀j ∀i A(j, i) = B(i, j)");
  EXPECT_EQ(to_string(concrete("a = B(i, i)")), "∀i a += B(i, i)");
  EXPECT_EQ(to_string(concrete("A(i, i) += B(i, i)")), "∀i A(i, i) += B(i, i)");
  EXPECT_EQ(to_string(concrete("a = 3")), "a = 3");
}

TEST(Concrete, ComparesByValue) {
  EXPECT_TRUE(concrete("A(i, j) = B(i, j)") == concrete("A(i, j)  =  B(i, j)  # the same"));
  EXPECT_FALSE(concrete("A(i, j) = B(i, j)") == concrete("A(j, i) = B(j, i)"));
  EXPECT_FALSE(concrete("A(i, j) = B(i, j)") == concrete("A(i, j) += B(i, j)"));
}

TEST(Concrete, ANestRoundTrips) {
  Stmt s = concrete("A(i, j) = B(i, k) * C(k, j)");
  EXPECT_TRUE(to_stmt(nest_of(s)) == s);
  Nest nest = nest_of(s);
  nest.relations.emplace_back(MarkRelation{{"i", {}}, {}});
  Stmt marked = to_stmt(nest);
  EXPECT_TRUE(to_stmt(nest_of(marked)) == marked);
  EXPECT_EQ(to_string(marked), "∀i ∀j ∀k A(i, j) += B(i, k) * C(k, j) s.t. parallelize(i)");
  EXPECT_TRUE(nest.has_loop({"k", {}}));
  EXPECT_FALSE(nest.has_loop({"x", {}}));
  EXPECT_EQ(nest.position({"k", {}}), 2u);
  EXPECT_FALSE(nest.is_distributed({"i", {}}));
}

TEST(Concrete, WherePrints) {
  Stmt a = concrete("A(i, j) = B(i, j)"), b = concrete("a = B(i, i)");
  EXPECT_EQ(to_string(Stmt(Where{a, b})), "(∀i ∀j A(i, j) = B(i, j) where ∀i a += B(i, i))");
  EXPECT_TRUE(Stmt(Where{a, b}) == Stmt(Where{a, b}));
  EXPECT_FALSE(Stmt(Where{a, b}) == Stmt(Where{b, a}));
}

TEST(Concrete, EveryRelationPrints) {
  IndexVar i{"i", {}}, o{"o", {}}, r{"r", {}};
  EXPECT_EQ(to_string(Relation(SplitRelation{i, o, r, IntExpr(3)})), "split(i, o, r, 3)");
  EXPECT_EQ(to_string(Relation(DivideRelation{i, o, r, IntExpr::name("g")})), "divide(i, o, r, g)");
  EXPECT_EQ(to_string(Relation(CollapseRelation{i, o, r})), "collapse(i, o, r)");
  EXPECT_EQ(to_string(Relation(RotateRelation{i, {o}, r})), "rotate(i, {o}, r)");
  EXPECT_EQ(to_string(Relation(DistributeRelation{i, std::nullopt, std::nullopt})), "distribute(i)");
  EXPECT_EQ(to_string(Relation(DistributeRelation{i, 1, 0})), "distribute(i, level 1 dimension 0)");
  EXPECT_EQ(to_string(Relation(HoldRelation{0, 1, IntExpr(2)})), "hold(level 0 dimension 1 at 2)");
  EXPECT_EQ(to_string(Relation(EverywhereRelation{0, 1})), "everywhere(level 0 dimension 1)");
  EXPECT_EQ(to_string(Relation(CommunicateRelation{Name{"A", {}}, i})), "communicate(A, i)");
  EXPECT_EQ(to_string(Relation(SubstituteRelation{{i, o}, Name{"gemm", {}}})), "substitute({i, o}, gemm)");
  EXPECT_EQ(to_string(Relation(MarkRelation{i, {}})), "parallelize(i)");
}

}  // namespace
}  // namespace distal::core
