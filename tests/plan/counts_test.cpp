// The counts of the algorithms against the formulas of the textbooks. The compiler contains none of these formulas.

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "plan/cost.h"
#include "plan/memory.h"
#include "support/programs.h"
#include "support/traffic.h"

namespace distal::core {
namespace {

using test::bytes_by_pair;
using test::cost_of_algorithm;
using test::cost_of_text;
using test::Movement;
using test::movements_of;
using test::plan_algorithm;
using test::plan_text;

constexpr int64_t kDouble = 8;

struct Sizes {
  int64_t ni, nj, nk;
  int64_t a() const { return ni * nj; }
  int64_t b() const { return ni * nk; }
  int64_t c() const { return nk * nj; }
  std::string text() const { return fmt::format("ni={},nj={},nk={}", ni, nj, nk); }
};

void expect_tensor(const Cost& cost, const std::string& name, int64_t elements, int64_t messages, Pattern pattern) {
  const Cost::PerTensor& t = cost.tensors.at(name);
  EXPECT_EQ(t.bytes, elements * kDouble) << name;
  EXPECT_EQ(t.messages, messages) << name;
  EXPECT_EQ(t.pattern, to_string(pattern)) << name;
}

// The elements that move, by level of the machine.
void expect_totals(const Cost& cost, int64_t processors, const std::vector<int64_t>& elements, const Sizes& n) {
  std::vector<int64_t> bytes;
  for (int64_t e : elements) bytes.push_back(e * kDouble);
  EXPECT_EQ(cost.processors, processors);
  EXPECT_EQ(cost.bytes_by_level, bytes);
  EXPECT_EQ(cost.bytes_moved, std::accumulate(bytes.begin(), bytes.end(), int64_t{0}));
  EXPECT_EQ(cost.flops, 2.0 * static_cast<double>(n.ni) * static_cast<double>(n.nj) * static_cast<double>(n.nk));
  int64_t messages = 0;
  for (const auto& [name, t] : cost.tensors) messages += t.messages;
  EXPECT_EQ(cost.messages, messages);
}

void expect_totals(const Cost& cost, int64_t processors, int64_t elements, const Sizes& n) {
  expect_totals(cost, processors, std::vector<int64_t>{elements}, n);
}

// ---- small examples ----

TEST(Counts, CannonOnFourByFour) {
  Cost cost = cost_of_algorithm("cannon", "ni=1024,nj=1024,nk=1024,gx=4,gy=4");
  EXPECT_EQ(cost.bytes_moved, 2 * (4 - 1) * 1024LL * 1024 * 8);
  EXPECT_EQ(cost.tensors.at("A").pattern, to_string(Pattern::None));
  EXPECT_EQ(cost.tensors.at("B").pattern, to_string(Pattern::Shift));
  EXPECT_EQ(cost.tensors.at("C").pattern, to_string(Pattern::Shift));
}

TEST(Counts, SummaOnFourByFour) {
  Cost cost = cost_of_algorithm("summa", "ni=1024,nj=1024,nk=1024,gx=4,gy=4,chunk=256");
  EXPECT_EQ(cost.bytes_moved, 2 * (4 - 1) * 1024LL * 1024 * 8);
  EXPECT_EQ(cost.tensors.at("A").pattern, to_string(Pattern::None));
  EXPECT_EQ(cost.tensors.at("B").pattern, to_string(Pattern::Broadcast));
  EXPECT_EQ(cost.tensors.at("C").pattern, to_string(Pattern::Broadcast));
}

TEST(Counts, JohnsonOnTwoByTwoByTwo) {
  Cost cost = cost_of_algorithm("johnson", "ni=1024,nj=1024,nk=1024,gx=2,gy=2,gz=2");
  EXPECT_EQ(cost.bytes_moved, 3 * (2 - 1) * 1024LL * 1024 * 8);
}

// ---- 2-D algorithms: a row of processors needs a row of tiles of B, a column of processors a column of tiles of C
// ----

class Square : public testing::TestWithParam<int64_t> {
 protected:
  int64_t g() const { return GetParam(); }
  // Three different sizes, all of which the grid divides.
  Sizes sizes() const { return {3 * g(), 5 * g(), 2 * g()}; }
  std::string settings() const { return fmt::format("{},gx={},gy={}", sizes().text(), g(), g()); }
};

TEST_P(Square, Cannon) {
  Cost cost = cost_of_algorithm("cannon", settings());
  Sizes n = sizes();
  expect_totals(cost, g() * g(), (g() - 1) * (n.b() + n.c()), n);
  expect_tensor(cost, "A", 0, 0, Pattern::None);
  expect_tensor(cost, "B", (g() - 1) * n.b(), g() * g() * (g() - 1), Pattern::Shift);
  expect_tensor(cost, "C", (g() - 1) * n.c(), g() * g() * (g() - 1), Pattern::Shift);
  // All processors receive and send the same.
  int64_t each = (g() - 1) * (n.b() + n.c()) / (g() * g()) * kDouble;
  EXPECT_EQ(cost.max_bytes_received, each);
  EXPECT_EQ(cost.max_bytes_sent, each);
}

TEST_P(Square, Pumma) {
  Cost cost = cost_of_algorithm("pumma", settings());
  Sizes n = sizes();
  expect_totals(cost, g() * g(), (g() - 1) * (n.b() + n.c()), n);
  expect_tensor(cost, "A", 0, 0, Pattern::None);
  expect_tensor(cost, "B", (g() - 1) * n.b(), g() * g() * (g() - 1), Pattern::Broadcast);
  expect_tensor(cost, "C", (g() - 1) * n.c(), g() * g() * (g() - 1), Pattern::Shift);
}

TEST_P(Square, Summa) {
  int64_t chunk = 1;  // half a tile of k
  Cost cost = cost_of_algorithm("summa", fmt::format("{},chunk={}", settings(), chunk));
  Sizes n = sizes();
  int64_t steps = n.nk / chunk;
  expect_totals(cost, g() * g(), (g() - 1) * (n.b() + n.c()), n);
  expect_tensor(cost, "A", 0, 0, Pattern::None);
  expect_tensor(cost, "B", (g() - 1) * n.b(), steps * g() * (g() - 1), Pattern::Broadcast);
  expect_tensor(cost, "C", (g() - 1) * n.c(), steps * g() * (g() - 1), Pattern::Broadcast);
}

INSTANTIATE_TEST_SUITE_P(From4To1024, Square, testing::Values(2, 3, 4, 8, 16, 32),
                         [](const auto& tested) { return std::to_string(tested.param * tested.param); });

TEST(Counts, CannonOn4096) {
  Sizes n{64, 128, 192};
  Cost cost = cost_of_algorithm("cannon", n.text() + ",gx=64,gy=64");
  expect_totals(cost, 4096, 63 * (n.b() + n.c()), n);
  expect_tensor(cost, "B", 63 * n.b(), 4096 * 63, Pattern::Shift);
  expect_tensor(cost, "C", 63 * n.c(), 4096 * 63, Pattern::Shift);
}

TEST(Counts, SummaOn4096) {
  Sizes n{64, 128, 192};
  Cost cost = cost_of_algorithm("summa", n.text() + ",gx=64,gy=64,chunk=3");
  expect_totals(cost, 4096, 63 * (n.b() + n.c()), n);
  expect_tensor(cost, "B", 63 * n.b(), 64 * 64 * 63, Pattern::Broadcast);
}

TEST(Counts, PummaOn4096) {
  Sizes n{64, 128, 192};
  Cost cost = cost_of_algorithm("pumma", n.text() + ",gx=64,gy=64");
  expect_totals(cost, 4096, 63 * (n.b() + n.c()), n);
}

// The bytes are the same if the grid does not divide the sizes: a row of processors still needs the same data.
TEST(Counts, TwoDimensionalBytesOnAnyGridAndSize) {
  struct Case {
    Sizes n;
    int64_t gx, gy;
  };
  for (const Case& c : {Case{{37, 53, 29}, 3, 2}, Case{{37, 53, 29}, 1, 5}, Case{{41, 17, 31}, 4, 3},
                        Case{{13, 29, 11}, 5, 1}, Case{{64, 48, 80}, 8, 2}}) {
    for (const char* algorithm : {"cannon", "pumma", "summa"}) {
      SCOPED_TRACE(fmt::format("{} {} on {}x{}", algorithm, c.n.text(), c.gx, c.gy));
      std::string chunk = algorithm == std::string("summa") ? ",chunk=7" : "";
      Cost cost = cost_of_algorithm(algorithm, fmt::format("{},gx={},gy={}{}", c.n.text(), c.gx, c.gy, chunk));
      EXPECT_EQ(cost.tensors.at("A").bytes, 0);
      EXPECT_EQ(cost.tensors.at("B").bytes, (c.gy - 1) * c.n.b() * kDouble);
      EXPECT_EQ(cost.tensors.at("C").bytes, (c.gx - 1) * c.n.c() * kDouble);
    }
  }
}

// Block-cyclic tensors move as many bytes as SUMMA's blocked ones, for any block size, and A does not move.
TEST(Counts, CyclicBlocksMoveAsMuchAsTiles) {
  for (auto [gx, gy] : {std::pair<int64_t, int64_t>{2, 2}, {3, 2}, {1, 4}, {4, 3}}) {
    for (const Sizes& n : {Sizes{48, 48, 48}, Sizes{37, 41, 29}, Sizes{23, 60, 31}}) {
      for (auto [block, chunk] : {std::pair<int64_t, int64_t>{1, 5}, {3, 3}, {4, 12}, {5, 64}}) {
        std::string settings = fmt::format("{},gx={},gy={},block={},chunk={}", n.text(), gx, gy, block, chunk);
        SCOPED_TRACE(settings);
        Cost cost = cost_of_algorithm("scalapack", settings);
        EXPECT_EQ(cost.tensors.at("A").bytes, 0);
        EXPECT_EQ(cost.tensors.at("B").bytes, n.b() * (gy - 1) * kDouble);
        EXPECT_EQ(cost.tensors.at("C").bytes, n.c() * (gx - 1) * kDouble);
        expect_totals(cost, gx * gy, n.b() * (gy - 1) + n.c() * (gx - 1), n);
      }
    }
  }
}

// ---- senders and receivers ----

TEST(Pairs, CannonTalksToNeighboursOnlyAfterTheSkew) {
  constexpr int64_t g = 5;
  Sizes n{3 * g, 4 * g, 2 * g};
  std::vector<Movement> all = movements_of(plan_algorithm("cannon", fmt::format("{},gx={},gy={}", n.text(), g, g)));
  std::map<std::pair<int64_t, std::string>, int64_t> received;  // by processor and tensor, after the skew
  for (const Movement& m : all) {
    EXPECT_FALSE(m.release);
    int64_t x = m.destination / g, y = m.destination % g;
    if (m.step == 0) {
      // The skew: the tile comes from its owner, along the row for B and along the column for C.
      int64_t k = (x + y) % g;
      EXPECT_EQ(m.source, m.tensor == "B" ? x * g + k : k * g + y);
      continue;
    }
    int64_t right = x * g + (y + 1) % g, below = (x + 1) % g * g + y;
    EXPECT_EQ(m.source, m.tensor == "B" ? right : below) << m.tensor << " at step " << m.step;
    received[{m.destination, m.tensor}] += m.bytes;
  }
  for (int64_t p = 0; p < g * g; ++p) {
    // It owns one of the g tiles it needs. If that is not the first one, the first arrives with the skew.
    bool skewed_b = (p / g + p % g) % g != p % g, skewed_c = (p / g + p % g) % g != p / g;
    EXPECT_EQ((received[{p, "B"}]), (g - 1 - (skewed_b ? 1 : 0)) * n.b() / (g * g) * kDouble);
    EXPECT_EQ((received[{p, "C"}]), (g - 1 - (skewed_c ? 1 : 0)) * n.c() / (g * g) * kDouble);
  }
}

TEST(Pairs, SummaBroadcastsAlongRowsAndColumns) {
  constexpr int64_t gx = 3, gy = 4;
  Sizes n{2 * gx, 3 * gy, 12 * 2};
  Plan plan = plan_algorithm("summa", fmt::format("{},gx={},gy={},chunk=2", n.text(), gx, gy));
  std::vector<Movement> all = movements_of(plan);
  auto b = bytes_by_pair(all, "B"), c = bytes_by_pair(all, "C");
  EXPECT_TRUE(bytes_by_pair(all, "A").empty());
  for (int64_t p = 0; p < gx * gy; ++p) {
    for (int64_t q = 0; q < gx * gy; ++q) {
      bool same_row = p / gy == q / gy, same_column = p % gy == q % gy;
      int64_t along_row = p != q && same_row ? n.b() / (gx * gy) * kDouble : 0;
      int64_t along_column = p != q && same_column ? n.c() / (gx * gy) * kDouble : 0;
      EXPECT_EQ((b[{p, q}]), along_row) << p << " to " << q;
      EXPECT_EQ((c[{p, q}]), along_column) << p << " to " << q;
    }
  }
  // At one step, one processor of a row sends the same to all others of it.
  std::map<std::tuple<int64_t, int64_t>, std::set<int64_t>> senders, receivers;  // by step and row
  for (const Movement& m : all) {
    if (m.tensor != "B") continue;
    senders[{m.step, m.destination / gy}].insert(m.source);
    receivers[{m.step, m.destination / gy}].insert(m.destination);
  }
  EXPECT_EQ(senders.size(), static_cast<size_t>(n.nk / 2 * gx));
  for (const auto& [key, s] : senders) EXPECT_EQ(s.size(), 1u);
  for (const auto& [key, r] : receivers) EXPECT_EQ(r.size(), static_cast<size_t>(gy - 1));
}

TEST(Pairs, JohnsonBroadcastsBAndCAndReducesA) {
  constexpr int64_t gx = 2, gy = 3, gz = 4;
  Sizes n{4 * gx, 2 * gy, 3 * gz};
  std::vector<Movement> all =
      movements_of(plan_algorithm("johnson", fmt::format("{},gx={},gy={},gz={}", n.text(), gx, gy, gz)));
  auto at = [](int64_t x, int64_t y, int64_t z) { return (x * gy + y) * gz + z; };
  std::map<std::pair<int64_t, int64_t>, int64_t> a, b, c;
  for (int64_t x = 0; x < gx; ++x) {
    for (int64_t y = 0; y < gy; ++y) {
      for (int64_t z = 0; z < gz; ++z) {
        if (y > 0) b[{at(x, 0, z), at(x, y, z)}] = n.b() / (gx * gz) * kDouble;
        if (x > 0) c[{at(0, y, z), at(x, y, z)}] = n.c() / (gy * gz) * kDouble;
        int64_t towards = z & (z - 1);  // along a binomial tree
        if (z > 0) a[{at(x, y, z), at(x, y, towards)}] = n.a() / (gx * gy) * kDouble;
      }
    }
  }
  EXPECT_EQ(bytes_by_pair(all, "A"), a);
  EXPECT_EQ(bytes_by_pair(all, "B"), b);
  EXPECT_EQ(bytes_by_pair(all, "C"), c);
  for (const Movement& m : all) EXPECT_EQ(m.release, m.tensor == "A");
}

// ---- 3-D algorithms ----

struct Cube {
  int64_t gx, gy, gz;
};

class CubeGrid : public testing::TestWithParam<Cube> {};

TEST_P(CubeGrid, Johnson) {
  auto [gx, gy, gz] = GetParam();
  Sizes n{2 * gx, 3 * gy, 5 * gz};
  Cost cost = cost_of_algorithm("johnson", fmt::format("{},gx={},gy={},gz={}", n.text(), gx, gy, gz));
  expect_totals(cost, gx * gy * gz, (gz - 1) * n.a() + (gy - 1) * n.b() + (gx - 1) * n.c(), n);
  expect_tensor(cost, "A", (gz - 1) * n.a(), gx * gy * (gz - 1), gz > 1 ? Pattern::Reduce : Pattern::None);
  expect_tensor(cost, "B", (gy - 1) * n.b(), gx * gz * (gy - 1), gy > 1 ? Pattern::Broadcast : Pattern::None);
  expect_tensor(cost, "C", (gx - 1) * n.c(), gy * gz * (gx - 1), gx > 1 ? Pattern::Broadcast : Pattern::None);
}

// COSMA: the processors along z add to the same tile of A. In each step, those along y need the same panel of B, and
// those along x the same panel of C.
TEST_P(CubeGrid, Cosma) {
  auto [gx, gy, gz] = GetParam();
  constexpr int64_t steps = 2;
  Sizes n{2 * gx * gy, 3 * gy * gz, steps * gx * gz};
  Cost cost = cost_of_algorithm("cosma", fmt::format("{},gx={},gy={},gz={},steps={}", n.text(), gx, gy, gz, steps));
  int64_t p = gx * gy * gz;
  expect_totals(cost, p, {(gx - 1) * n.c(), (gy - 1) * n.b(), (gz - 1) * n.a()}, n);
  expect_tensor(cost, "A", (gz - 1) * n.a(), p * (gz - 1), gz > 1 ? Pattern::Reduce : Pattern::None);
  expect_tensor(cost, "B", (gy - 1) * n.b(), steps * p * (gy - 1), gy > 1 ? Pattern::Broadcast : Pattern::None);
  // A step of C has the rows of several owners, or several steps have the rows of one.
  int64_t parts = gx + steps - std::gcd(gx, steps);
  expect_tensor(cost, "C", (gx - 1) * n.c(), parts * gy * gz * (gx - 1), gx > 1 ? Pattern::Broadcast : Pattern::None);
}

// A processor holds its piece of every tensor, and the tiles and panels that it shares while it uses them.
TEST_P(CubeGrid, MemoryOfCosma) {
  auto [gx, gy, gz] = GetParam();
  for (int64_t steps : {1, 2, 4}) {
    int64_t bi = 2 * gy, bj = 3 * gz, chunk = gx;
    Sizes n{bi * gx, bj * gy, steps * chunk * gz};
    Cost cost = cost_of_algorithm("cosma", fmt::format("{},gx={},gy={},gz={},steps={}", n.text(), gx, gy, gz, steps));
    int64_t home = (n.a() + n.b() + n.c()) / (gx * gy * gz);
    int64_t copies = (gz > 1 ? bi * bj : 0) + (gy > 1 ? bi * chunk : 0) + (gx > 1 ? chunk * bj : 0);
    EXPECT_EQ(cost.peak_bytes_per_processor, (home + copies) * kDouble);
  }
}

// If a processor computes several tiles of A in turn, B is sent again for every column of tiles, and C for every row.
TEST_P(CubeGrid, CosmaWithSequentialParts) {
  auto [gx, gy, gz] = GetParam();
  constexpr int64_t steps = 2, seqi = 2, seqj = 3;
  Sizes n{gx * gy * seqi, gy * gz * seqj, steps * gx * gz};
  Cost cost = cost_of_algorithm(
      "cosma", fmt::format("{},gx={},gy={},gz={},steps={},seqi={},seqj={}", n.text(), gx, gy, gz, steps, seqi, seqj));
  expect_totals(cost, gx * gy * gz, {seqi * (gx - 1) * n.c(), seqj * (gy - 1) * n.b(), (gz - 1) * n.a()}, n);
}

INSTANTIATE_TEST_SUITE_P(From4To1024, CubeGrid,
                         testing::Values(Cube{2, 2, 1}, Cube{2, 2, 2}, Cube{3, 2, 4}, Cube{1, 4, 5}, Cube{4, 4, 4},
                                         Cube{8, 8, 8}, Cube{16, 8, 8}),
                         [](const auto& tested) {
                           return fmt::format("{}x{}x{}", tested.param.gx, tested.param.gy, tested.param.gz);
                         });

TEST(Counts, JohnsonOn4096) {
  Sizes n{32, 48, 64};
  Cost cost = cost_of_algorithm("johnson", n.text() + ",gx=16,gy=16,gz=16");
  expect_totals(cost, 4096, 15 * (n.a() + n.b() + n.c()), n);
  EXPECT_EQ(cost.messages, 3 * 256 * 15);
}

TEST(Counts, CosmaOn4096) {
  Sizes n{32, 48, 256};
  Cost cost = cost_of_algorithm("cosma", n.text() + ",gx=16,gy=16,gz=16,steps=4");
  expect_totals(cost, 4096, {15 * n.c(), 15 * n.b(), 15 * n.a()}, n);
}

// 1024 cubed on 64 processors: more steps save memory and move no more bytes; sequential parts move B and C again.
TEST(Counts, CosmaTradesBytesForMemory) {
  constexpr int64_t kMatrix = 1024 * 1024 * kDouble;
  const std::string grid = "ni=1024,nj=1024,nk=1024,gx=4,gy=4,gz=4,";
  Cost once = cost_of_algorithm("cosma", grid + "steps=1");
  Cost steps = cost_of_algorithm("cosma", grid + "steps=4");
  Cost parts = cost_of_algorithm("cosma", grid + "steps=4,seqi=2,seqj=2");
  EXPECT_EQ(once.bytes_moved, 9 * kMatrix);
  EXPECT_EQ(steps.bytes_moved, 9 * kMatrix);
  EXPECT_EQ(parts.bytes_moved, 15 * kMatrix);
  EXPECT_EQ(once.peak_bytes_per_processor, 1966080);
  EXPECT_EQ(steps.peak_bytes_per_processor, 1179648);
  EXPECT_EQ(parts.peak_bytes_per_processor, 655360);
}

struct Replication {
  int64_t g, c;
};

class TwoAndAHalf : public testing::TestWithParam<Replication> {};

// Every processor of the g x g x c grid needs g / c of the g tiles of its row of B, which all lie in layer 0. In layer
// 0, g * g / c of the tiles are at home where they are needed.
TEST_P(TwoAndAHalf, Solomonik) {
  auto [g, c] = GetParam();
  Sizes n{2 * g, 3 * g, 4 * g};
  Cost cost = cost_of_algorithm("solomonik", fmt::format("{},g={},c={}", n.text(), g, c));
  int64_t tiles = g * g * c * (g / c) - g * (g / c);
  int64_t b = tiles * (n.b() / (g * g)), cc = tiles * (n.c() / (g * g));
  expect_totals(cost, g * g * c, (c - 1) * n.a() + b + cc, n);
  expect_tensor(cost, "A", (c - 1) * n.a(), (c - 1) * g * g, c > 1 ? Pattern::Reduce : Pattern::None);
  EXPECT_EQ(cost.tensors.at("B").bytes, b * kDouble);
  EXPECT_EQ(cost.tensors.at("C").bytes, cc * kDouble);
  EXPECT_EQ(cost.tensors.at("B").messages, tiles);
  EXPECT_EQ(cost.tensors.at("C").messages, tiles);
}

INSTANTIATE_TEST_SUITE_P(From4To4096, TwoAndAHalf,
                         testing::Values(Replication{2, 1}, Replication{2, 2}, Replication{4, 1}, Replication{4, 2},
                                         Replication{4, 4}, Replication{6, 3}, Replication{8, 4}, Replication{16, 4},
                                         Replication{32, 4}),
                         [](const auto& tested) { return fmt::format("g{}c{}", tested.param.g, tested.param.c); });

// With one layer the 2.5D algorithm is Cannon's.
TEST(Counts, SolomonikWithOneLayerIsCannon) {
  Cost one = cost_of_algorithm("solomonik", "ni=24,nj=36,nk=48,g=4,c=1");
  Cost cannon = cost_of_algorithm("cannon", "ni=24,nj=36,nk=48,gx=4,gy=4");
  EXPECT_EQ(one.bytes_moved, cannon.bytes_moved);
  EXPECT_EQ(one.messages, cannon.messages);
  EXPECT_EQ(one.tensors.at("B").pattern, to_string(Pattern::Shift));
}

// ---- other kernels ----

TEST(Counts, MatchedLayoutsMoveNothing) {
  for (const char* grid : {"gx=2,gy=2", "gx=3,gy=5", "gx=1,gy=7"}) {
    Cost ttv = cost_of_algorithm("ttv", std::string("ni=37,nj=53,nk=29,") + grid);
    EXPECT_EQ(ttv.bytes_moved, 0) << grid;
    EXPECT_EQ(ttv.messages, 0) << grid;
    for (const auto& [name, t] : ttv.tensors) EXPECT_EQ(t.pattern, to_string(Pattern::None)) << name;
  }
  for (const char* grid : {"gx=1", "gx=4", "gx=7"}) {
    EXPECT_EQ(cost_of_algorithm("ttm", std::string("ni=37,nj=13,nk=29,nl=11,") + grid).bytes_moved, 0) << grid;
  }
}

TEST(Counts, InnerProductReducesOneNumberAProcessor) {
  Cost cost = cost_of_algorithm("innerprod", "ni=10,nj=12,nk=14,gx=3,gy=4");
  expect_tensor(cost, "a", 3 * 4 - 1, 3 * 4 - 1, Pattern::Reduce);
  EXPECT_EQ(cost.bytes_moved, (3 * 4 - 1) * kDouble);
}

TEST(Counts, MatvecReducesAlongRows) {
  Cost cost = cost_of_algorithm("matvec", "ni=12,nj=20,gx=3,gy=4");
  expect_tensor(cost, "a", (4 - 1) * 12, 3 * (4 - 1), Pattern::Reduce);
  expect_tensor(cost, "c", 0, 0, Pattern::None);
}

TEST(Counts, MttkrpReducesOverTheOtherTwoDimensions) {
  Cost cost = cost_of_algorithm("mttkrp", "ni=6,nj=8,nk=10,nl=3,gx=2,gy=2,gz=5");
  expect_tensor(cost, "A", (2 * 5 - 1) * 6 * 3, 2 * (2 * 5 - 1), Pattern::Reduce);
  EXPECT_EQ(cost.bytes_moved, (2 * 5 - 1) * 6 * 3 * kDouble);
}

TEST(Counts, FlopsOfSumsAndProducts) {
  EXPECT_EQ(cost_of_text("tensor a(6)\ntensor b(6)\ntensor c(6)\na(i) = b(i) + c(i)\n").flops, 6);
  EXPECT_EQ(cost_of_text("tensor a(6)\ntensor b(6)\na(i) = b(i)\n").flops, 0);
  EXPECT_EQ(cost_of_text("tensor a\ntensor b(6)\na = b(i) * b(i)\n").flops, 12);
  // Two multiplications and one addition a point.
  EXPECT_EQ(cost_of_algorithm("mttkrp", "ni=6,nj=8,nk=10,nl=3").flops, 3.0 * 6 * 8 * 10 * 3);
}

// ---- replicas of an output ----

TEST(Counts, EveryFurtherReplicaIsACopy) {
  // Written where it lives, on the first of each row; the copies go along the row.
  auto from_the_first_column = [](const std::string& statement) {
    return cost_of_text("machine M = Grid(3, 4)\ntensor a(9) : x -> x* on M\ntensor b(9) : x -> x0 on M\n" + statement +
                        "\nschedule\n  distribute(i, io, ii, a)\n  communicate({a, b}, io)\n");
  };
  Cost write = from_the_first_column("a(i) = 2 * b(i)");
  expect_tensor(write, "a", 9 * (4 - 1), 3 * (4 - 1), Pattern::Broadcast);
  expect_tensor(write, "b", 0, 0, Pattern::None);
  // A copy does the same, unless it is distributed onto every replica: then each replica reads for itself.
  Cost copy = from_the_first_column("a(i) = b(i)");
  expect_tensor(copy, "a", 9 * (4 - 1), 3 * (4 - 1), Pattern::Broadcast);
  Cost everywhere = cost_of_text(
      "machine M = Grid(3, 4)\ntensor a(9) : x -> x* on M\ntensor b(9) : x -> x0 on M\na(i) = b(i)\nschedule\n"
      "  distribute({i}, {io}, {ii}, x -> x* on M)\n  communicate({a, b}, io)\n");
  expect_tensor(everywhere, "a", 0, 0, Pattern::None);
  expect_tensor(everywhere, "b", 9 * (4 - 1), 3 * (4 - 1), Pattern::Broadcast);
  // Partials are combined at the first replica and copied from there.
  Cost sum = cost_of_text(R"(machine M = Grid(3, 4)
tensor a(9) : x -> x* on M
tensor B(9, 8) : xy -> xy on M
a(i) = B(i, j)
schedule
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  communicate({a, B}, jo)
)");
  expect_tensor(sum, "a", 2 * 9 * (4 - 1), 2 * 3 * (4 - 1), Pattern::Mixed);
}

// ---- patterns ----

TEST(Patterns, ShiftGatherAndNone) {
  auto pattern = [](const std::string& from, const std::string& to) {
    Cost cost = cost_of_text("machine M = Grid(4)\ntensor a(16) : " + to + " on M\ntensor b(16) : " + from +
                             " on M\na(i) = b(i)\nschedule\n  distribute(i, io, ii, M)\n  communicate({a, b}, io)\n");
    return cost.tensors.at("b").pattern;
  };
  EXPECT_EQ(pattern("x -> x", "x -> x"), "none");
  EXPECT_EQ(pattern("x -> x cyclic(x)", "x -> x"), "gather");
  EXPECT_EQ(pattern("x -> 0", "x -> x"), "shift");
  EXPECT_EQ(pattern("x -> *", "x -> x"), "none");
}

// The running example of the paper: a(i) = b(j), three elements on three processors.
std::string running_example(const std::string& rest) {
  return "machine M = Grid(3)\ntensor a(3) : x -> x on M\ntensor b(3) : x -> x on M\n"
         "tensor one(3) : x -> x on M\na(i) = one(i) * b(j)\nschedule\n  distribute(i, M)\n" +
         rest;
}

TEST(Paper, CommunicateAggregatesAndRotateMakesShifts) {
  // Element by element: at each j, the owner sends to the two other processors.
  Cost naive = cost_of_text(running_example("  communicate(b, j)\n"));
  expect_tensor(naive, "b", 3 * 2, 3 * 2, Pattern::Broadcast);
  // All at once, under i; also by default.
  PlanCost aggregated = cost_of_text(running_example("  communicate(b, i)\n"));
  EXPECT_EQ(cost_of_text(running_example("")).steps.size(), 1u);
  expect_tensor(aggregated, "b", 3 * 2, 3 * 2, Pattern::Broadcast);
  EXPECT_GT(aggregated.peak_bytes_per_processor, naive.peak_bytes_per_processor);
  EXPECT_EQ(aggregated.steps.size(), 1u);
  // Rotated: each processor begins with its own element, and then each step is a shift.
  PlanCost rotated = cost_of_text(running_example("  rotate(j, i, jr)\n  communicate(b, jr)\n"));
  expect_tensor(rotated, "b", 3 * 2, 3 * 2, Pattern::Shift);
  EXPECT_EQ(rotated.steps.size(), 2u);
}

TEST(Flops, AreCountedInWholeNumbers) {
  PlanCost cost = cost_of_text("param n = 4503599627370497\ntensor a\ntensor b(n)\na = b(i) * b(i)\n");
  EXPECT_EQ(cost.exact_flops, Int128{9007199254740994});
  const char* cubed = "ni=3000000,nj=3000000,nk=3000000,gx=10,gy=10";
  EXPECT_EQ(cost_of_text(test::tiled_gemm("distribute({i, j}, {io, jo}, {ii, ji}, M)\n"), cubed).exact_flops,
            Int128{54} * 1'000'000'000'000'000'000);
}

TEST(Flops, OfTheFormsOfStatements) {
  const std::string tensors = "param n = 6\ntensor a(n)\ntensor b(n)\ntensor C(n, n)\n";
  auto flops = [&](const std::string& statement) { return cost_of_text(tensors + statement + "\n").flops; };
  EXPECT_EQ(flops("a(i) -= b(i)"), 6);
  EXPECT_EQ(flops("a(i) = b(j)"), 36) << "each element is a sum";
  EXPECT_EQ(flops("C(i, j) = b(i)"), 0);
  EXPECT_EQ(flops("C(i, j) = 2 * n - 1"), 72);
  EXPECT_EQ(flops("a(i) = b(i) + 2 * a(i)"), 12) << "the copy of a counts nothing";
  EXPECT_EQ(flops("a(i + 2) += b(i + 1)"), 4);
}

// ---- processors with work ----

TEST(Work, NothingDistributedRunsOnOneProcessor) {
  EXPECT_EQ(cost_of_text(test::tiled_gemm("")).processors_with_work, 1);
  EXPECT_EQ(cost_of_text(test::tiled_gemm("distribute({i, j}, {io, jo}, {ii, ji}, M)\n")).processors_with_work, 4);
}

TEST(Work, ProcessorsWithoutIterationsHaveNone) {
  // Blocks of 2: the first 2 of 4 processors have all of them.
  std::string text = "machine M = Grid(4)\ntensor a(4) : x -> x on M\ntensor b(4) : x -> x on M\na(i) = b(i)\n";
  EXPECT_EQ(cost_of_text(text + "schedule\n  split(i, io, ii, 2)\n  distribute(io, M)\n").processors_with_work, 2);
  EXPECT_EQ(cost_of_text(text + "schedule\n  distribute(i, io, ii, M)\n").processors_with_work, 4);
  EXPECT_EQ(cost_of_text(text + "schedule\n  distribute(i, io, ii, x -> x cyclic(x = 3) on M)\n").processors_with_work,
            2);
  EXPECT_EQ(cost_of_text(text).processors, 4);
}

TEST(Work, LargeProgramsWithoutCommunicateArePlanned) {
  const char* large = "ni=256,nj=256,nk=256";
  EXPECT_EQ(cost_of_text(test::tiled_gemm(""), large).processors_with_work, 1);
  PlanCost cost = cost_of_text(test::tiled_gemm("distribute({i, j}, {io, jo}, {ii, ji}, M)\n"), large);
  EXPECT_EQ(cost.processors_with_work, 4);
  EXPECT_EQ(cost.steps.size(), 2u);  // B and C, once each
}

// ---- memory, by the place of communicate ----

TEST(Memory, SummaByTheLoopOfCommunicate) {
  constexpr int64_t ni = 12, nj = 20, nk = 24, gx = 2, gy = 4, chunk = 3;
  constexpr int64_t home = (ni * nj + ni * nk + nk * nj) / (gx * gy) * kDouble;
  constexpr int64_t rows = ni / gx, columns = nj / gy;
  auto peak = [&](const std::string& at) {
    return cost_of_text(test::tiled_gemm("distribute({i, j}, {io, jo}, {ii, ji}, M)\nsplit(k, ko, ki, chunk)\n"
                                         "reorder({io, jo, ko, ii, ji, ki})\ncommunicate(A, jo)\ncommunicate({B, C}, " +
                                         at + ")\n"),
                        fmt::format("ni={},nj={},nk={},gx={},gy={},chunk={}", ni, nj, nk, gx, gy, chunk))
        .peak_bytes_per_processor;
  };
  EXPECT_EQ(peak("jo"), home + (rows * nk + nk * columns) * kDouble);
  EXPECT_EQ(peak("io"), home + (rows * nk + nk * columns) * kDouble);
  EXPECT_EQ(peak("ko"), home + (rows * chunk + chunk * columns) * kDouble);
  // C does not move with ii, so it stays a chunk.
  EXPECT_EQ(peak("ii"), home + (chunk + chunk * columns) * kDouble);
  EXPECT_EQ(peak("ji"), home + (chunk + chunk) * kDouble);
  EXPECT_EQ(peak("ki"), home + (1 + 1) * kDouble);
}

TEST(Memory, CannonKeepsTwoTilesOfEach) {
  constexpr int64_t ni = 12, nj = 20, nk = 24, g = 4;
  constexpr int64_t home = (ni * nj + ni * nk + nk * nj) / (g * g) * kDouble;
  constexpr int64_t tiles = (ni * nk + nk * nj) / (g * g) * kDouble;
  std::string settings = fmt::format("ni={},nj={},nk={},gx={},gy={}", ni, nj, nk, g, g);
  EXPECT_EQ(cost_of_algorithm("cannon", settings).peak_bytes_per_processor, home + 2 * tiles);
  // From the owners only, one buffer is enough.
  EXPECT_EQ(cost_of_algorithm("cannon", settings, PlanOptions{false}).peak_bytes_per_processor, home + tiles);
}

TEST(Memory, JohnsonNeedsAPartialOfAToo) {
  constexpr int64_t n = 12, g = 2;
  constexpr int64_t tile = n * n / (g * g) * kDouble;
  // The processor (0, 0, 0) has all three tiles at home; (1, 1, 1) has none, and copies of all three.
  EXPECT_EQ(cost_of_algorithm("johnson", fmt::format("ni={0},nj={0},nk={0},gx={1},gy={1},gz={1}", n, g))
                .peak_bytes_per_processor,
            3 * tile);
}

TEST(Memory, ViewsNeedNoBuffers) {
  Plan plan = plan_algorithm("summa", "ni=16,nj=16,nk=16,gx=2,gy=2,chunk=4");
  MemoryNeeds own = memory_needs(plan, Reach::own()), all = memory_needs(plan, Reach::all());
  constexpr int64_t home = 3 * 16 * 16 / 4 * kDouble;
  EXPECT_EQ(own.peak_per_processor, home + 2 * 8 * 4 * kDouble);
  EXPECT_EQ(all.peak_per_processor, home);  // every chunk lies in one piece
  EXPECT_EQ(all.total, 4 * home);
  for (int64_t bytes : all.home_bytes) EXPECT_EQ(bytes, home);
}

// A processor holds the blocks of a panel that it needs, without the blocks between them.
TEST(Memory, CyclicBlocksHaveNoGapsBetweenThem) {
  Cost cost = cost_of_algorithm("scalapack", "ni=96,nj=64,nk=80,gx=3,gy=2,block=4,chunk=20");
  int64_t home = (96 * 64 + 96 * 80 + 80 * 64) / 6, panels = (96 / 3 + 64 / 2) * 20;
  EXPECT_LE(cost.peak_bytes_per_processor, (home + panels) * kDouble + 96 * kDouble);
  EXPECT_GT(cost.peak_bytes_per_processor, home * kDouble);
}

// ---- two levels ----

std::string two_level_gemm(const std::string& schedule) {
  return R"(param n = 16
machine M = Grid(2, 2) of Grid(2)
tensor A(n, n) : xy -> xy, xy -> x on M
tensor B(n, n) : xy -> xy, xy -> x on M
tensor C(n, n) : xy -> xy, xy -> x on M
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute({i, j}, {io, jo}, {ii, ji}, M[0])
)" + schedule;
}

TEST(Levels, AboveTheLowerLaunchAPieceCrossesOnceAndIsShared) {
  Cost cost = cost_of_text(two_level_gemm("  communicate({A, B, C}, jo)\n  distribute(ii, iio, iii, M[1])\n"));
  constexpr int64_t n2 = 16 * 16 * kDouble;
  EXPECT_EQ(cost.processors, 8);
  // Each of the four nodes acquires the other half of a row of B and of a column of C.
  EXPECT_EQ(cost.tensors.at("B").bytes, n2);
  EXPECT_EQ(cost.tensors.at("C").bytes, n2);
  EXPECT_EQ(cost.bytes_by_level, (std::vector<int64_t>{2 * n2, 0}));
}

TEST(Levels, BelowItEveryProcessorAcquiresForItself) {
  Cost cost = cost_of_text(two_level_gemm("  distribute(ii, iio, iii, M[1])\n  communicate({A, B, C}, iio)\n"));
  constexpr int64_t n2 = 16 * 16 * kDouble;
  // B: a quarter of the rows, half of which is at home; the other half is on another node.
  EXPECT_EQ(cost.tensors.at("B").bytes, n2);
  // C: a column of tiles; a quarter is at home, a quarter with the sibling, half on another node.
  EXPECT_EQ(cost.tensors.at("C").bytes, 3 * n2);
  EXPECT_EQ(cost.bytes_by_level, (std::vector<int64_t>{n2 + 2 * n2, n2}));
  EXPECT_EQ(cost.tensors.at("A").bytes, 0);
}

TEST(Levels, PartialsAreCombinedWithinANodeFirst) {
  // The sum is cut at both levels: 2 nodes of 4 processors.
  Cost cost = cost_of_text(R"(param n = 32
machine M = Grid(2) of Grid(4)
tensor a(8) : x -> 0, x -> 0 on M
tensor B(8, n) : xy -> y, xy -> y on M
a(i) = B(i, k)
schedule
  distribute(k, ko, ki, M[0])
  distribute(ki, kio, kii, M[1])
  communicate({a, B}, kio)
)");
  EXPECT_EQ(cost.tensors.at("B").bytes, 0);
  // On each node three processors send to the fourth, and one partial crosses the upper level.
  EXPECT_EQ(cost.bytes_by_level, (std::vector<int64_t>{8 * kDouble, 2 * 3 * 8 * kDouble}));
  EXPECT_EQ(cost.messages, 7);
  EXPECT_EQ(cost.tensors.at("a").pattern, to_string(Pattern::Reduce));
}

// ---- sizes beyond 2^31 elements, without their memory ----

TEST(Large, SummaOfTenToTheTenElements) {
  Sizes n{100000, 100000, 100000};
  Cost cost = cost_of_algorithm("summa", n.text() + ",gx=16,gy=16,chunk=6250");
  expect_totals(cost, 256, 15 * (n.b() + n.c()), n);
  expect_tensor(cost, "B", 15 * n.b(), 16 * 16 * 15, Pattern::Broadcast);
  EXPECT_EQ(cost.peak_bytes_per_processor, (3 * n.a() / 256 + 2 * 6250 * 6250) * kDouble);
}

TEST(Large, JohnsonOfUnevenTiles) {
  Sizes n{300000007, 200000011, 5};
  Cost cost = cost_of_algorithm("johnson", n.text() + ",gx=3,gy=7,gz=2");
  expect_totals(cost, 42, n.a() + 6 * n.b() + 2 * n.c(), n);
}

TEST(Large, ATensorBeyond64BitsIsRefused) {
  EXPECT_THROW(cost_of_algorithm("summa", "ni=4000000000,nj=4000000000,nk=4,chunk=4"), Error);
}

}  // namespace
}  // namespace distal::core
