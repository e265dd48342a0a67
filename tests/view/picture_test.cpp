// The data of pictures, compared with the plan that they show.

#include "view/picture.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "property/generate.h"
#include "support/programs.h"
#include "support/traffic.h"
#include "view/page.h"

namespace distal::core {
namespace {

using Json = nlohmann::ordered_json;
using test::algorithm_names;
using test::Movement;
using test::movements_of;
using test::plan_algorithm;
using test::plan_text;

// ---- blocks, read by their documented form ----

// The ranges of a list.
Ranges ranges_of(const Json& picture, int list) {
  Ranges out;
  const Json& quadruples = picture["runs"][static_cast<size_t>(list)];
  for (size_t q = 0; q < quadruples.size(); q += 4) {
    int64_t lo = quadruples[q], length = quadruples[q + 1], stride = quadruples[q + 2], count = quadruples[q + 3];
    for (int64_t n = 0; n < count; ++n) out.push_back({lo + n * stride, lo + n * stride + length});
  }
  return out;
}

int64_t volume_of(const Json& picture, int64_t block) {
  int64_t out = 1;
  for (const Json& list : picture["blocks"][static_cast<size_t>(block)]) {
    int64_t length = 0;
    for (const Range& r : ranges_of(picture, list)) length += r.hi - r.lo;
    out *= length;
  }
  return out;
}

std::vector<Rect> rects_of(const Json& picture, int64_t block) {
  std::vector<Rect> out{{}};
  for (const Json& list : picture["blocks"][static_cast<size_t>(block)]) {
    std::vector<Rect> longer;
    for (const Rect& r : out) {
      for (const Range& range : ranges_of(picture, list)) {
        longer.push_back(r);
        longer.back().lo.push_back(range.lo);
        longer.back().hi.push_back(range.hi);
      }
    }
    out = std::move(longer);
  }
  return out;
}

// ---- what a picture says, as the plan says it ----

using Pairs = std::map<std::tuple<std::string, int64_t, int64_t>, int64_t>;  // bytes by tensor, source, destination

Pairs pairs_of(const Plan& plan) {
  Pairs out;
  for (const Movement& m : movements_of(plan)) out[{m.tensor, m.source, m.destination}] += m.bytes;
  return out;
}

Pairs pairs_of(const Json& picture) {
  Pairs out;
  for (const Json& statement : picture["statements"]) {
    for (const Json& frame : statement["frames"]) {
      for (const Json& move : frame["moves"]) {
        const Json& tensor = picture["tensors"][move["tensor"].get<size_t>()];
        const Json& list = move["messages"];
        for (size_t m = 0; m < list.size(); m += 3) {
          out[{tensor["name"], list[m], list[m + 1]}] +=
              volume_of(picture, list[m + 2]) * tensor["element_bytes"].get<int64_t>();
        }
      }
    }
  }
  return out;
}

int64_t total_of_frames(const Json& picture) {
  int64_t out = 0;
  for (const Json& statement : picture["statements"]) {
    for (const Json& frame : statement["frames"]) {
      for (const Json& moved : frame["moved"]) out += moved["bytes"].get<int64_t>();
    }
  }
  return out;
}

void expect_pieces(const Plan& plan, const Json& picture) {
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const Ownership& owners = plan.tensors[t].owners;
    const Json& pieces = picture["tensors"][t]["pieces"];
    ASSERT_EQ(static_cast<int64_t>(pieces.size()), owners.machine().processors);
    for (int64_t p = 0; p < owners.machine().processors; ++p) {
      int64_t block = pieces[static_cast<size_t>(p)];
      ASSERT_EQ(block >= 0, owners.owns_any(p)) << plan.tensors[t].name << p;
      if (block < 0) continue;
      EXPECT_EQ(volume_of(picture, block), owners.piece_of(p).volume());
      for (const Rect& r : owners.rects_of(p)) {
        std::vector<Rect> drawn = rects_of(picture, block);
        EXPECT_TRUE(subtract(r, drawn).empty()) << plan.tensors[t].name << to_string(r);
      }
    }
  }
}

void expect_plan(const Plan& plan) {
  Json picture = picture_of(plan, "t.distal");
  PlanCost cost = count_cost(plan);
  expect_pieces(plan, picture);
  EXPECT_EQ(pairs_of(picture), pairs_of(plan));
  EXPECT_EQ(total_of_frames(picture), cost.bytes_moved);
  EXPECT_EQ(picture["bytes_moved"], cost.bytes_moved);
  EXPECT_EQ(picture["processors"], plan.processors);
}

// The points that all processors compute in all frames.
int64_t points_of(const Json& picture, const Json& statement) {
  int64_t out = 0;
  for (const Json& frame : statement["frames"]) {
    for (int64_t block : frame["work"]) out += block < 0 ? 0 : volume_of(picture, block);
  }
  return out;
}

TEST(Picture, OfEveryAlgorithm) {
  for (const std::string& name : algorithm_names()) {
    SCOPED_TRACE(name);
    Plan plan = plan_algorithm(name);
    expect_plan(plan);
    Json picture = picture_of(plan, name);
    for (const Json& statement : picture["statements"]) {
      int64_t all = 1;
      for (const Json& index : statement["indices"]) all *= index["extent"].get<int64_t>();
      EXPECT_EQ(points_of(picture, statement), all) << "each point is computed once";
    }
  }
}

TEST(Picture, OfRandomPrograms) {
  int drawn = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    property::GeneratedProgram program = property::generate_program(seed);
    if (program.wrong) continue;
    SCOPED_TRACE(program.text);
    std::optional<Plan> plan;
    try {
      plan = plan_text(program.text);
    } catch (const Error&) {
      continue;  // the generator also makes programs that are refused
    }
    expect_plan(*plan);
    page_of(picture_of(*plan, "t.distal"));
    ++drawn;
  }
  EXPECT_GT(drawn, 250);
}

TEST(Picture, CannonStartsOnTheDiagonal) {
  Json picture = picture_of(plan_algorithm("cannon", "ni=9,nj=9,nk=9,gx=3,gy=3"), "cannon");
  const Json& statement = picture["statements"][0];
  ASSERT_EQ(statement["frames"].size(), 3u);
  for (int64_t step = 0; step < 3; ++step) {
    const Json& work = statement["frames"][static_cast<size_t>(step)]["work"];
    for (int64_t p = 0; p < 9; ++p) {
      int64_t i = p / 3, j = p % 3, k = (step + i + j) % 3;
      Rect box{{3 * i, 3 * j, 3 * k}, {3 * i + 3, 3 * j + 3, 3 * k + 3}};
      EXPECT_EQ(rects_of(picture, work[static_cast<size_t>(p)]), std::vector<Rect>{box});
    }
  }
  EXPECT_EQ(statement["frames"][0]["loops"], (Json{{"kos", 0}}));
  EXPECT_EQ(statement["frames"][1]["moved"]["B"]["pattern"], "shift");
}

TEST(Picture, ResultsThatGoHomeAreTheLastFrame) {
  Json picture = picture_of(plan_algorithm("johnson", "ni=4,nj=4,nk=4"), "johnson");
  const Json& frames = picture["statements"][0]["frames"];
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_TRUE(frames[1]["work"].empty());
  ASSERT_EQ(frames[1]["moves"].size(), 1u);
  EXPECT_EQ(frames[1]["moves"][0]["kind"], "add");
  EXPECT_EQ(frames[1]["moved"]["A"]["pattern"], "reduce");
}

TEST(Picture, WorkOnACyclicFormatHasHoles) {
  Json picture = picture_of(plan_text(R"(param n = 12
machine M = Grid(2)
tensor A(n) : x -> x cyclic(x = 2) on M
tensor B(n) : x -> x on M
A(i) = B(i)
schedule
  distribute(i, io, ii, A)
  communicate({A, B}, i_round)
)"),
                            "copy");
  int64_t points = 0;
  for (const Json& frame : picture["statements"][0]["frames"]) {
    for (int64_t block : frame["work"]) {
      if (block >= 0) points += volume_of(picture, block);
    }
  }
  EXPECT_EQ(points, 12);
}

// If only few entries are allowed, frames are left out, and the other frames have the same totals.
TEST(Picture, DetailIsLimited) {
  Plan plan = plan_algorithm("cannon", "ni=64,nj=64,nk=64,gx=8,gy=8");
  DetailLimits limits;
  limits.entries = 700;
  Json picture = picture_of(plan, "cannon", limits);
  const Json& statement = picture["statements"][0];
  EXPECT_EQ(statement["frames_in_all"], 8);
  int64_t every = statement["every"];
  EXPECT_GT(every, 1);
  EXPECT_LT(statement["frames"].size(), 8u);
  EXPECT_EQ(statement["frames"][0]["frame"], 0);
  EXPECT_EQ(statement["frames"].back()["frame"], 7);
  EXPECT_EQ(total_of_frames(picture), count_cost(plan).bytes_moved);
}

TEST(Picture, ManyMessagesAreSummedOverGroups) {
  Plan plan = plan_algorithm("cannon", "ni=64,nj=64,nk=64,gx=8,gy=8");
  DetailLimits limits;
  limits.messages_per_move = 20;
  Json picture = picture_of(plan, "cannon", limits);
  int64_t bytes = 0;
  for (const Json& frame : picture["statements"][0]["frames"]) {
    for (const Json& move : frame["moves"]) {
      ASSERT_TRUE(move.contains("groups"));
      const Json& list = move["groups"]["messages"];
      EXPECT_LE(list.size(), 3u * 20u);
      for (size_t m = 0; m < list.size(); m += 3) bytes += list[m + 2].get<int64_t>();
    }
  }
  EXPECT_EQ(bytes, count_cost(plan).bytes_moved);
}

TEST(Picture, OfManyProcessorsIsSmall) {
  Plan plan = plan_algorithm("summa", "ni=512,nj=512,nk=512,gx=64,gy=64,chunk=128");
  EXPECT_EQ(plan.processors, 4096);
  EXPECT_LT(page_of(picture_of(plan, "summa")).size(), 20u << 20);
}

// ---- blocks ----

TEST(PictureBlocks, RectanglesThatAreAProductAreOneBlock) {
  BlockTable table;
  std::vector<Rect> product;
  for (int64_t i : {0, 4}) {
    for (int64_t j : {1, 6, 11}) product.push_back({{i, j}, {i + 2, j + 3}});
  }
  EXPECT_EQ(table.numbers_of(product).size(), 1u);
  product.pop_back();
  EXPECT_EQ(table.numbers_of(product).size(), 5u);
  Json out;
  table.write_to(out);
  EXPECT_EQ(out["runs"][0], (Json{0, 2, 4, 2}));
  EXPECT_EQ(out["runs"][1], (Json{1, 3, 5, 3}));
  EXPECT_EQ(out["blocks"][0], (Json{0, 1}));
}

TEST(PictureBlocks, RangesThatTouchAreJoined) {
  BlockTable table;
  EXPECT_EQ(table.number_of({{{0, 2}, {2, 5}}}), table.number_of({{{0, 5}}}));
  EXPECT_EQ(table.numbers_of({{{0}, {2}}, {{2}, {5}}}), table.numbers_of({{{0}, {5}}}));
  EXPECT_EQ(table.numbers_of({}).size(), 0u);
  EXPECT_EQ(table.numbers_of({Rect{}}).size(), 1u) << "a scalar";
}

// Rectangles that overlap in one dimension and are no product stay apart.
TEST(PictureBlocks, ShiftedRectanglesStayApart) {
  BlockTable table;
  std::vector<Rect> parts{{{0, 0}, {2, 2}}, {{2, 1}, {4, 3}}};
  EXPECT_EQ(table.numbers_of(parts).size(), 2u);
}

// ---- the page ----

TEST(Page, IsSelfContained) {
  std::string page = page_of(picture_of(plan_algorithm("summa"), "</script><b>summa"));
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  for (size_t at = page.find("http"); at != std::string::npos; at = page.find("http", at + 1)) {
    EXPECT_EQ(page.substr(at, 26), "http://www.w3.org/2000/svg");
  }
  for (const char* mark : {"@data@", "@script@", "@page_css@", "@drawing_css@", "\nimport ", "\nexport "}) {
    EXPECT_EQ(page.find(mark), std::string::npos) << mark;
  }
}

}  // namespace
}  // namespace distal::core
