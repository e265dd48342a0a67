#include "lang/parse.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "programs.h"

namespace distal::core {
namespace {

Module parse(const std::string& text) { return parse_module(text, "t.distal"); }

const Command& command(const Module& module, size_t i) { return module.statements.front().schedule.at(i); }

TEST(Parse, Summa) {
  Module m = parse(test::summa);
  ASSERT_EQ(m.params.size(), 6u);
  EXPECT_EQ(m.params[5].name, "chunk");
  EXPECT_TRUE(m.params[5].value.is_constant(256));
  ASSERT_EQ(m.machines.size(), 1u);
  EXPECT_EQ(to_string(m.machines[0]), "Grid(gx, gy)");
  ASSERT_EQ(m.tensors.size(), 3u);
  const Tensor& b = *m.find_tensor("B");
  EXPECT_EQ(b.dimensions, (std::vector<IntExpr>{IntExpr::name("ni"), IntExpr::name("nk")}));
  EXPECT_EQ(b.machine->name, "M");
  EXPECT_EQ(to_string(*b.distribution), "xy -> xy");
  EXPECT_EQ(b.order, (std::vector<int>{0, 1}));
  ASSERT_EQ(m.statements.size(), 1u);
  EXPECT_EQ(to_string(m.statements[0].statement), "A(i, j) = B(i, k) * C(k, j)");
  ASSERT_EQ(m.statements[0].schedule.size(), 6u);
  EXPECT_EQ(command(m, 0).arguments[1], Argument(std::vector<IndexVar>{{"io", {}}, {"jo", {}}}));
  EXPECT_EQ(onto_of(command(m, 0))->name.text, "M");
  EXPECT_EQ(command(m, 1).arguments[3], Argument(IntExpr::name("chunk")));
  EXPECT_EQ(std::get<std::vector<Name>>(command(m, 4).arguments[0]).size(), 2u);
  EXPECT_EQ(std::get<Name>(command(m, 5).arguments[1]).text, "gemm");
  EXPECT_EQ(command(m, 1).span.line, 12);
  EXPECT_EQ(command(m, 1).span.column, 3);
  EXPECT_EQ(m.type, ElementType::Double);
}

TEST(Parse, SummaPrintsAsWritten) { EXPECT_EQ(to_string(parse(test::summa)), test::summa); }

TEST(Parse, EveryProgramParsesBackToItself) {
  for (const std::string& text : test::all_programs) {
    SCOPED_TRACE(text);
    Module m = parse(text);
    std::string printed = to_string(m);
    SCOPED_TRACE(printed);
    Module again = parse(printed);
    EXPECT_TRUE(again == m);
    EXPECT_EQ(to_string(again), printed);
  }
}

// ---- machines without a grid ----

std::string with_machine(const std::string& machine) {
  return "param p = 6\nmachine M = " + machine + "\n\ntensor A(4) on M\ntensor B(4) : x -> 0 on M\n\nA(i) = B(i)\n";
}

TEST(Machines, PrintAsWritten) {
  for (const char* machine : {"64 processors", "p processors", "(2*p + 1) processors gpu", "64 processors as Grid(63)",
                              "p processors as Grid(5)", "64 processors as Grid(64) gpu", "8 processors as Grid(p)"}) {
    EXPECT_EQ(to_string(parse(with_machine(machine))), with_machine(machine));
  }
  std::string levels = "64 processors as (Grid(7) of Grid(9)) gpu";
  Module m = parse("machine M = " + levels + "\ntensor A(4) : x -> x, x -> x on M\ntensor B(4)\nA(i) = B(i)\n");
  EXPECT_EQ(to_string(m.machines[0]), levels);
  EXPECT_EQ(m.machines[0].levels[1].processor, Processor::GPU);
  EXPECT_EQ(parse(to_string(m)), m);
}

TEST(Machines, TheNumberNeedsNoParentheses) {
  for (const char* machine : {"2 * p + 1 processors", "max(p, 3) processors", "p / 2 processors", "(p) processors"}) {
    Module m = parse(with_machine(machine));
    EXPECT_TRUE(m.machines[0].is_free) << machine;
    EXPECT_EQ(parse(to_string(m)), m) << machine;
  }
}

TEST(Machines, StandInPlace) {
  Module m = parse(
      "param p = 6\ntensor A(4, 4) : xy -> xy on p processors as Grid(2, 3)\ntensor B(4) : x -> x on 6 "
      "processors\ntensor C(4) on p processors order(0)\nA(i, j) = B(i) * C(j)\n");
  EXPECT_EQ(to_string(*m.tensors[0].machine), "p processors as Grid(2, 3)");
  EXPECT_EQ(to_string(*m.tensors[1].machine), "6 processors");
  EXPECT_TRUE(m.tensors[2].machine->is_free);
  EXPECT_EQ(parse(to_string(m)), m);
}

// A format that is to be found is not the same as one on the first processor.
TEST(Machines, AFreeFormatIsKnown) {
  Module m = parse(with_machine("64 processors"));
  EXPECT_TRUE(has_free_format(m.tensors[0]));
  EXPECT_FALSE(has_free_format(m.tensors[1]));
  EXPECT_FALSE(has_free_format(parse("tensor A(4)\ntensor B(4)\nA(i) = B(i)\n").tensors[0]));
}

TEST(Machines, WordsAreNotReserved) {
  Module m = parse("machine processors = Grid(2)\ntensor as(4) : x -> x on processors\ntensor of(4)\nas(i) = of(i)\n");
  EXPECT_EQ(parse(to_string(m)), m);
}

TEST(Parse, EveryCommandPrintsCanonically) {
  Module m = parse(test::all_programs[7]);
  std::vector<std::string> printed;
  for (const Command& c : m.statements[0].schedule) printed.push_back(to_string(c));
  EXPECT_EQ(printed, (std::vector<std::string>{
                         "split(k, ko, ki, ceildiv(n, c) + min(c, 3)*max(1, g))",
                         "divide(i, io, ii, g)",
                         "divide(j, jo, ji, (g + 1)/2)",
                         "collapse(io, jo, f)",
                         "reorder({f, ko, ii})",
                         "reorder({f, ko, ii})",
                         "distribute(io)",
                         "distribute({io, jo})",
                         "distribute(io, M[1])",
                         "distribute({io, jo}, M)",
                         "distribute({io, jo}, Grid(g, 2*g))",
                         "distribute({i, j}, {io, jo}, {ii, ji}, M)",
                         "distribute({i, j}, {io, jo}, {ii, ji}, M[0])",
                         "distribute({i}, {io}, {ii}, A)",
                         "distribute({ii}, {iio}, {iii}, A[1])",
                         "distribute({i, j}, {io, jo}, {ii, ji}, Grid(g, g) gpu)",
                         "communicate(A, jo)",
                         "communicate({B, C}, ko)",
                         "rotate(ko, {io, jo}, kos)",
                         "rotate(ko, {io}, kos)",
                         "substitute({ii, ji, ki}, gemm)",
                         "parallelize(ii)",
                     }));
}

TEST(Parse, WordsOfTheLanguageAreNotReserved) {
  Module m = parse(test::all_programs[8]);
  EXPECT_EQ(m.tensors.size(), 6u);
  EXPECT_EQ(m.machines.size(), 2u);
  ASSERT_EQ(m.statements.size(), 6u);
  EXPECT_EQ(to_string(m.statements[0].statement), "gpu(in) = order(in)");
  EXPECT_EQ(m.statements[2].schedule.size(), 1u);
  EXPECT_EQ(to_string(m.statements[3].statement), "split(i) = order(i) * on");
  EXPECT_EQ(to_string(m.statements[4].statement), "schedule = on");
  EXPECT_EQ(to_string(m.statements[5].statement), "schedule += split(tensor)");
  EXPECT_EQ(m.statements[5].schedule.size(), 1u);
}

TEST(Parse, WhiteSpaceAndCommentsDoNotMatter) {
  Module wide = parse(
      "# head\nparam n=4,\n  m = n  # tail\nmachine M=Grid(n,\n m)\r\ntensor A(n,m):xy->x*\n  on M\n"
      "tensor B ( n , m )\nA(i,j)=B(i,j)\n  *\n  B(i,j)\nschedule split(i,io,ii,2) parallelize(io)\n\n");
  Module narrow = parse(
      "param n = 4, m = n\nmachine M = Grid(n, m)\ntensor A(n, m) : xy -> x* on M\ntensor B(n, m)\n"
      "A(i, j) = B(i, j) * B(i, j)\nschedule\nsplit(i, io, ii, 2)\nparallelize(io)");
  EXPECT_TRUE(wide == narrow);
}

TEST(Parse, IntegerExpressions) {
  auto value = [](const std::string& text) {
    Module m = parse("param a = 7, b = 2\nparam v = " + text + "\ntensor s\ns = 1\n");
    Module again = parse(to_string(m));
    EXPECT_TRUE(m == again) << to_string(m);
    return distal::core::bind(m, {}).at("v");
  };
  EXPECT_EQ(value("a/b"), 3);
  EXPECT_EQ(value("-a/b"), -4);
  EXPECT_EQ(value("ceildiv(a, b)"), 4);
  EXPECT_EQ(value("min(a, b) + max(a, b)*10"), 72);
  EXPECT_EQ(value("a - b - 1"), 4);
  EXPECT_EQ(value("a - (b - 1)"), 6);
  EXPECT_EQ(value("a + (b + (1 + a))"), 17);
  EXPECT_EQ(value("a + (b - (1 - a))"), 15);
  EXPECT_EQ(value("a*(b*a)/(b + 1)"), 32);
  EXPECT_EQ(value("2*(a + b)*-1"), -18);
  EXPECT_EQ(value("--a"), 7);
  EXPECT_EQ(value("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(value("-9223372036854775808"), INT64_MIN);
}

TEST(Parse, ElementTypes) {
  auto type = [](const std::string& name) { return parse("type " + name + "\ntensor s\ns = 1\n").type; };
  EXPECT_EQ(type("float"), ElementType::Float);
  EXPECT_EQ(type("int64"), ElementType::Int64);
  EXPECT_EQ(type("complex<float>"), ElementType::ComplexFloat);
  EXPECT_EQ(type("complex128"), ElementType::ComplexDouble);
  Module m = parse("type complex<double>\ntensor s\ns = 1\n");
  EXPECT_TRUE(parse(to_string(m)) == m);
}

// They mean different things once schedules can be found.
TEST(Parse, NoScheduleIsNotAnEmptyOne) {
  std::string text = "tensor a\n\na = 1\n\na = 2\n\nschedule\n\na = 3\n\nschedule\n";
  Module m = parse(text);
  ASSERT_EQ(m.statements.size(), 3u);
  EXPECT_FALSE(m.statements[0].has_empty_schedule);
  EXPECT_TRUE(m.statements[1].has_empty_schedule);
  EXPECT_TRUE(m.statements[2].has_empty_schedule);
  EXPECT_EQ(to_string(m), text);
  EXPECT_TRUE(parse(to_string(m)) == m);
  Module none = m;
  none.statements[1].has_empty_schedule = false;
  EXPECT_FALSE(none == m);
}

TEST(Parse, OneMachineNeedsNoOn) {
  Module m = parse("machine M = Grid(2)\ntensor A(4) : x -> x\ntensor B(4)\nA(i) = B(i)\n");
  EXPECT_EQ(m.tensors[0].machine->name, "M");
  EXPECT_FALSE(m.tensors[1].machine);
}

TEST(Parse, FilesAreRead) {
  std::string path = testing::TempDir() + "/summa_parse_test.distal";
  std::ofstream(path) << test::summa;
  EXPECT_TRUE(parse_file(path) == parse(test::summa));
  std::remove(path.c_str());
  EXPECT_THROW(parse_file(path), Error);
  EXPECT_THROW(parse_file(testing::TempDir()), Error);
}

TEST(Parse, AlgorithmFiles) {
  std::filesystem::path folder = std::filesystem::path(DISTAL_SOURCE_DIR) / "algorithms";
  ASSERT_TRUE(std::filesystem::exists(folder));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".distal") continue;
    SCOPED_TRACE(entry.path().string());
    Module m = parse_file(entry.path().string());
    EXPECT_TRUE(parse(to_string(m)) == m);
  }
}

TEST(Bind, OverridesComeBeforeTheDefaultsThatUseThem) {
  Module m = parse("param n = 4, m = 2*n, k = m + n\ntensor s\ns = 1\n");
  EXPECT_EQ(distal::core::bind(m, {}), (Bindings{{"n", 4}, {"m", 8}, {"k", 12}}));
  EXPECT_EQ(distal::core::bind(m, {{"n", 5}}), (Bindings{{"n", 5}, {"m", 10}, {"k", 15}}));
  EXPECT_EQ(distal::core::bind(m, {{"m", 1}}), (Bindings{{"n", 4}, {"m", 1}, {"k", 5}}));
}

TEST(Bind, RefusesUnknownParams) {
  try {
    distal::core::bind(parse("param ni = 4, nj = 2\ntensor s\ns = 1\n"), {{"nk", 5}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "error: cannot set `nk` to 5: there is no such param\n"
                 "  help: the params are `ni` and `nj`; did you mean `ni`?");
  }
}

}  // namespace
}  // namespace distal::core
