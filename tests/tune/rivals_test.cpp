// What the search finds, compared with hand-written schedules, COSMA's rule, and redistributing first.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plan/ownership.h"
#include "tune/exchange.h"
#include "tune/find.h"
#include "tune/free_formats.h"
#include "tune/random_statements.h"

namespace distal::core {
namespace {

using test::Random;

// Sizes that the tiles of all these grids divide, and sizes that they do not.
std::string settings_of_grid(const Module& module, const std::vector<int64_t>& grid, int64_t size) {
  const std::vector<std::string> names{"gx", "gy", "gz"};
  std::string out;
  auto set = [&](const std::string& name, int64_t value) {
    bool is_param =
        std::any_of(module.params.begin(), module.params.end(), [&](const Param& p) { return p.name == name; });
    if (is_param) out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, value);
  };
  for (const char* name : {"ni", "nj", "nk", "nl", "nm", "nn"}) set(name, size);
  for (size_t d = 0; d < grid.size(); ++d) set(names[d], grid[d]);
  set("chunk", std::max<int64_t>(1, size / 4));
  set("block", std::max<int64_t>(1, size / 8));
  set("steps", 1);
  set("g", grid[0]);
  set("c", grid[2]);
  return out;
}

// With the formats of a file of algorithms/, on any grid, the search exchanges no more than the file's schedule.
TEST(Rivals, NoMoreThanTheAlgorithmsWithTheirFormats) {
  int compared = 0;
  for (const std::string& name : test::algorithm_names()) {
    std::string text = test::algorithm_text(name);
    Module module = test::parse_text(text);
    Module open = module;
    for (ScheduledStatement& statement : open.statements) statement.schedule.clear();
    for (const std::vector<int64_t>& grid :
         std::vector<std::vector<int64_t>>{{2, 2, 2}, {3, 3, 1}, {4, 2, 1}, {3, 3, 3}}) {
      for (int64_t size : {24, 20}) {
        std::string settings = settings_of_grid(module, grid, size);
        SCOPED_TRACE(name + " " + settings);
        Bindings params = distal::core::bind(module, test::settings_of(settings));
        try {
          test::plan_text(text, settings);
        } catch (const Error&) {
          continue;  // the file does not allow this grid
        }
        int64_t given = test::exchange_of(test::plan_text(text, settings)).most();
        FoundProgram found = find_what_is_left_out(open, params, {Goal::Bytes, {}, model_of_engine("mpi")});
        ASSERT_EQ(found.left, std::vector<std::string>{});
        int64_t exchanged = 0;
        for (const FoundStatement& part : found.statements) exchanged += part.result.best.cost.exchanged_bytes;
        EXPECT_LE(exchanged, given);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 50);
}

// The grid that COSMA's rule chooses for A(i, j) = B(i, k) * C(k, j): of all exact factorisations, the one whose tiles
// are nearest to cubes.
std::vector<int64_t> nearest_to_cubes(const StatementShape& shape, int64_t processors) {
  double points = 1;
  for (int64_t extent : shape.extents) points *= static_cast<double>(extent);
  double edge = std::cbrt(points / static_cast<double>(processors)), least = -1;
  std::vector<int64_t> best;
  for (int64_t a = 1; a <= processors; ++a) {
    for (int64_t b = 1; processors % a == 0 && b <= processors / a; ++b) {
      if (processors / a % b != 0) continue;
      std::vector<int64_t> parts{a, b, processors / a / b};
      double distance = 0;
      for (size_t i = 0; i < parts.size(); ++i)
        distance += std::abs(static_cast<double>(shape.extents[i]) / static_cast<double>(parts[i]) - edge);
      if (least >= 0 && distance >= least) continue;
      least = distance;
      best = parts;
    }
  }
  return best;
}

TEST(Rivals, NoMoreThanTheTilesNearestToCubes) {
  const std::string gemm =
      "param ni = 4096, nj = 4096, nk = 4096\ntensor A(ni, nj)\ntensor B(ni, nk)\n"
      "tensor C(nk, nj)\nA(i, j) = B(i, k) * C(k, j)\n";
  int fewer = 0;
  for (const char* sizes : {"", "ni=65536,nj=1024,nk=1024", "ni=1024,nj=1024,nk=65536", "ni=16384,nj=16384,nk=512"}) {
    StatementShape shape = test::shape_of_text(gemm, sizes);
    SearchOptions options;
    options.goal = Goal::Bytes;
    options.model = model_of_engine("mpi");
    for (options.processors = 2; options.processors <= 1024; options.processors += options.processors < 64 ? 1 : 37) {
      Candidate cubes = with_free_formats(shape, levels_of(nearest_to_cubes(shape, options.processors)));
      int64_t exchanged = cost_of(shape, cubes).exchanged_bytes;
      int64_t found = search(shape, options).best.cost.exchanged_bytes;
      EXPECT_LE(found, exchanged) << sizes << " on " << options.processors;
      fewer += found < exchanged;
    }
  }
  EXPECT_GT(fewer, 100);
}

// The elements that each processor has in one format and not in the other: it gets those of an operand that comes from
// the other format, and sends those of a result that goes into it.
std::vector<int64_t> elements_of_one(const Tensor& other, const Tensor& one, const Bindings& params,
                                     int64_t processors) {
  std::vector<int64_t> moved(static_cast<size_t>(processors), 0);
  Ownership had(other, params), has(one, params);
  Coordinates point(other.dimensions.size(), 0);
  while (true) {
    std::vector<int64_t> before = had.processors_of(had.colour_of(point)),
                         after = has.processors_of(has.colour_of(point));
    for (int64_t p : after) moved[p] += std::find(before.begin(), before.end(), p) == before.end();
    size_t d = 0;
    while (d < point.size() && ++point[d] == had.shape()[d]) point[d++] = 0;
    if (d == point.size()) return moved;
  }
}

// Rows, columns, blocks that are dealt out, and pieces on some processors only, on 8 or 12 processors.
std::string random_layout(Random& random, int64_t processors) {
  const std::string line = fmt::format("Grid({})", processors), half = fmt::format("Grid(2, {})", processors / 2);
  const std::string square = fmt::format("Grid({}, {})", processors / 4, 4);
  switch (random.pick(0, 6)) {
    case 0: return ": xy -> x on " + line;
    case 1: return ": xy -> y on " + line;
    case 2: return fmt::format(": xy -> xy cyclic(x = {0}, y = {0}) on {1}", random.pick(1, 4), square);
    case 3: return ": xy -> 0x on " + half;
    case 4: return ": xy -> y1 on " + square;
    case 5: return ": xy -> x cyclic(x = 2) on " + line;
    default: return ": xy -> 0 on " + line;
  }
}

// With given formats, no more is exchanged than by redistributing into the best formats first.
TEST(Rivals, NoMoreThanRedistributingFirst) {
  Random random{std::mt19937(10)};
  int fewer = 0;
  for (int round = 0; round < 150; ++round) {
    int64_t processors = random.pick(0, 1) == 0 ? 8 : 12;
    auto program = [&](const std::vector<std::string>& layouts) {
      const char* sizes[] = {"ni, nj", "ni, nk", "nk, nj"};
      std::string text = fmt::format("machine M = {} processors\n", processors);
      for (size_t t = 0; t < 3; ++t) text += fmt::format("tensor {}({}) {}\n", "ABC"[t], sizes[t], layouts[t]);
      return text + "A(i, j) = B(i, k) * C(k, j)\n";
    };
    std::string params_text =
        fmt::format("param ni = {}, nj = {}, nk = {}\n", random.pick(4, 30), random.pick(4, 30), random.pick(4, 30));
    std::vector<std::string> layouts(3, "on M");
    for (std::string& layout : layouts) layout = random.pick(0, 2) > 0 ? random_layout(random, processors) : "on M";
    Module given = test::parse_text(params_text + program(layouts));
    Module free = test::parse_text(params_text + program({"on M", "on M", "on M"}));
    SCOPED_TRACE(to_string(given));
    Bindings params = distal::core::bind(given, {});
    FindOptions options{Goal::Bytes, {}, model_of_engine("mpi")};
    FoundProgram best = find_what_is_left_out(free, params, options);
    std::vector<int64_t> redistributed(static_cast<size_t>(processors), 0);
    for (size_t t = 0; t < 3; ++t) {
      if (has_free_format(given.tensors[t])) continue;
      const Tensor &theirs = given.tensors[t], &ours = best.module.tensors[t];
      std::vector<int64_t> moved = elements_of_one(theirs, ours, params, processors);
      for (size_t p = 0; p < moved.size(); ++p) redistributed[p] += 8 * moved[p];
    }
    int64_t first = *std::max_element(redistributed.begin(), redistributed.end());
    FoundProgram found = find_what_is_left_out(given, params, options);
    int64_t exchanged = found.statements[0].result.best.cost.exchanged_bytes;
    ASSERT_EQ(exchanged, test::exchange_of(test::plan_text(to_string(found.module))).most());
    EXPECT_LE(exchanged, best.statements[0].result.best.cost.exchanged_bytes + first);
    fewer += exchanged < best.statements[0].result.best.cost.exchanged_bytes + first;
  }
  EXPECT_GT(fewer, 50);
}

}  // namespace
}  // namespace distal::core
