// The text of emitted Legion programs. A review of a change sees its effect in tests/golden/legion. Nothing here needs
// Legion; tests/legion builds and runs such programs.

#include <gtest/gtest.h>

#include <filesystem>

#include "engine/legion/build.h"
#include "engine/legion/emit.h"
#include "engine/legion/launch.h"
#include "engine/legion/names.h"
#include "engine/legion/support/grid.h"
#include "lang/parse.h"
#include "lower/compile.h"
#include "property/definition.h"
#include "support/cache_folder.h"
#include "support/environment.h"
#include "support/golden.h"
#include "support/layouts.h"
#include "support/run.h"

namespace distal::core {
namespace {

using test::message_of;

LegionSource source_of(const std::string& name, const std::string& text) {
  return {name, compile(parse_module(text, name))};
}

class EmittedAlgorithm : public testing::TestWithParam<const char*> {};

TEST_P(EmittedAlgorithm, Text) {
  std::string name = GetParam();
  std::string text = test::read_text(std::string(DISTAL_SOURCE_DIR) + "/algorithms/" + name + ".distal");
  std::map<std::string, std::string> files = emit_legion({source_of(name, text)});
  test::expect_golden("legion/" + name + ".txt", files.at(name + ".cpp"));
}

INSTANTIATE_TEST_SUITE_P(Emitted, EmittedAlgorithm,
                         testing::Values("cannon", "contraction4", "cosma", "innerprod", "johnson", "matvec", "mttkrp",
                                         "pumma", "scalapack", "solomonik", "summa", "ttm", "ttv"));

TEST(Emit, SeveralProgramsAreOneExecutable) {
  std::string text = "param n = 4\ntensor a(n)\ntensor b(n)\n";
  std::map<std::string, std::string> files =
      emit_legion({source_of("copy", text + "a(i) = b(i)\n"), source_of("twice", text + "a(i) = 2 * b(i)\n")});
  test::expect_golden("legion/CMakeLists.txt", files.at("CMakeLists.txt"));
  test::expect_golden("legion/nest.txt", files.at("twice_nest_1.cpp"));
  EXPECT_NE(files.at("copy.cpp").find("start(argc, argv, {&copy::program, &twice::program})"), std::string::npos);
  EXPECT_EQ(files.count("distal/session.h"), 1U);
  EXPECT_EQ(files.count("distal/data/random.h"), 1U);
  EXPECT_EQ(files.count("distal/lang/block_cyclic.h"), 1U);
}

// Names that clash with C++ keywords, or with names of the included headers, are changed.
TEST(Emit, NamesThatClashAreChanged) {
  std::string text = R"(param int = 6, class = 2
machine new = Grid(class)
tensor T(int) : x -> x on new
tensor Runtime(int) : x -> x on new
T(for) = Runtime(for)
schedule
  distribute(for, while, if, new)
)";
  std::string emitted = emit_legion({source_of("names", text)}).at("names.cpp");
  EXPECT_NE(emitted.find("static Int int_, class_;"), std::string::npos) << emitted;
  EXPECT_NE(emitted.find("static Tensor T_, Runtime_;"), std::string::npos) << emitted;
  EXPECT_NE(emitted.find("const Int while_ = at[0];"), std::string::npos) << emitted;
}

TEST(Emit, NamesOfFiles) {
  EXPECT_EQ(legion_name("summa"), "summa");
  EXPECT_EQ(legion_name("my-file.v2"), "my_file_v2");
  EXPECT_EQ(legion_name("2d"), "program_2d");
}

TEST(Emit, ExpressionsKeepTheirMeaning) {
  CppNames names;
  for (const char* n : {"a", "b", "c"}) names.add(n);
  IntExpr a = IntExpr::name("a"), b = IntExpr::name("b"), c = IntExpr::name("c");
  EXPECT_EQ(names.text((a + b) * c), "(a + b) * c");
  EXPECT_EQ(names.text(a - (b - c)), "a - (b - c)");
  EXPECT_EQ(names.text(floor_div(a + b, c) * IntExpr(-2)), "floordiv(a + b, c) * (-2)");
  EXPECT_EQ(names.text(min(ceil_div(a, b), floor_mod(a, c))), "min(ceildiv(a, b), mod(a, c))");
}

TEST(Emit, RefusesWhatLegionCannotExpress) {
  EXPECT_NE(message_of([] {
              emit_legion({source_of("p",
                                     "param n = 0\ntensor a(2)\ntensor b(2, n)\ntensor c(2)\n"
                                     "a(i) = b(i, k) + c(i)\n")});
            }).find("a sum over no k beside other terms does not run on Legion"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              emit_legion({source_of("p",
                                     "tensor a(2,2,2,2,2,2,2)\ntensor b(2,2,2,2,2,2,2)\n"
                                     "a(i,j,k,l,m,n,o) = b(i,j,k,l,m,n,o)\n")});
            }).find("tensor a has 7 dimensions; Legion allows at most 6"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              emit_legion({source_of("p",
                                     "machine M = Grid(1, 1, 1, 1, 1, 1, 1)\ntensor a(2)\ntensor b(2)\n"
                                     "a(i) = b(i)\n")});
            }).find("the machine Grid(1, 1, 1, 1, 1, 1, 1) has 7 dimensions"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              emit_legion({source_of("p", "param n = 4\ntensor a(n)\ntensor b(n)\na(n) = b(n)\n")});
            }).find("a loop and a param are both called n; a Legion program cannot tell them apart"),
            std::string::npos);
}

// ---- the homes of tensors, as the code of emitted programs computes them ----

std::vector<distal_legion::Role> roles_of(const Tensor& tensor, const Bindings& params) {
  std::vector<distal_legion::Role> out;
  for (const LevelDistribution& level : tensor.distribution->levels) {
    for (const MachineDimension& m : level.machine_dimensions) {
      if (const auto* fix = std::get_if<Fix>(&m.role)) {
        out.push_back(distal_legion::fixed(fix->face.evaluate(params)));
      } else if (const auto* cut = std::get_if<Partition>(&m.role)) {
        auto dimension = static_cast<int>(level.dimension_of(*cut));
        std::optional<IntExpr> block = level.block_of(*cut);
        out.push_back(block ? distal_legion::cyclic(dimension, block->evaluate(params))
                            : distal_legion::blocked(dimension));
      } else {
        out.push_back(distal_legion::replicated());
      }
    }
  }
  return out;
}

void expect_home(const std::string& declaration) {
  SCOPED_TRACE(declaration);
  Module module = parse_module(declaration + "\ntensor z\nz = 1\n", "home");
  Bindings params = bind(module, {});
  const Tensor& tensor = module.tensors[0];
  distal_legion::Grid grid;
  for (const Grid& level : tensor.machine->levels) {
    for (const IntExpr& e : level.extents) grid.extents.push_back(e.evaluate(params));
  }
  distal_legion::Coordinates shape;
  for (const IntExpr& e : tensor.dimensions) shape.push_back(e.evaluate(params));
  distal_legion::Home home(grid, shape, roles_of(tensor, params));
  property::Owners owners(
      static_cast<size_t>(distal_legion::Rectangle{distal_legion::Coordinates(shape.size(), 0), shape}.volume()));
  distal_legion::for_each_point(distal_legion::LaunchDomain(grid).points, [&](const distal_legion::Coordinates& at) {
    for (size_t n = 0; n < home.most_pieces(); ++n) {
      distal_legion::for_each_point(home.piece(at, n, false), [&](const distal_legion::Coordinates& x) {
        int64_t index = 0;
        for (size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + x[d];
        owners[static_cast<size_t>(index)].push_back(grid.number(at));
      });
    }
  });
  EXPECT_EQ(owners, property::owners_by_definition(tensor, params));
}

TEST(Home, IsWhatTheDistributionSays) {
  for (const char* tensor : {
           "tensor A(10, 7) : xy -> xy on Grid(3, 2)",
           "tensor A(10, 7) : xy -> yx on Grid(3, 2)",
           "tensor A(10, 7) : xy -> x1 on Grid(3, 2)",
           "tensor A(10, 7) : xy -> *y on Grid(3, 2)",
           "tensor A(2, 7) : xy -> xy on Grid(5, 2)",
           "tensor A(11, 7) : xy -> xy cyclic(x = 2) on Grid(3, 2)",
           "tensor A(11, 7) : xy -> xy cyclic(x = 2, y) on Grid(2, 3)",
           "tensor A(11, 7) : xy -> xy, xy -> x on Grid(2, 2) of Grid(3)",
           "tensor A(23, 7) : xy -> x cyclic(x = 3), xy -> xy on Grid(2) of Grid(2, 2)",
           "tensor A(23, 7) : xy -> x cyclic(x = 5), xy -> x cyclic(x = 2) on Grid(2) of Grid(3)",
           "tensor A(13, 4) : xy -> x0, xy -> *y on Grid(2, 2) of Grid(2, 2)",
       }) {
    expect_home(tensor);
  }
}

// ---- finding Legion, building and starting programs ----

constexpr const char* kSettings = R"(origin=somewhere
legion_dir=/legion/cmake
mpirun=/bin/mpirun --quiet
env=A=1 B=2
args=-level 5
single_args=-ll:networks none
crowded_env=C=3
crowded_args=-ll:bgwork 1
)";

TEST(LegionSettings, AreReadFromAFile) {
  LegionSettings s = read_legion_settings(kSettings);
  EXPECT_EQ(s.legion_dir, "/legion/cmake");
  EXPECT_EQ(s.mpirun, (std::vector<std::string>{"/bin/mpirun", "--quiet"}));
  EXPECT_EQ(s.env, (std::vector<std::string>{"A=1", "B=2"}));
}

TEST(LegionSettings, TheUsersOwnLegionComesFirst) {
  ScopedVariable own("Legion_DIR", "/my/legion");
  EXPECT_EQ(find_legion("/nowhere").legion_dir, "/my/legion");
}

TEST(LegionSettings, WithoutLegionTheHelpSaysHowToGetIt) {
  ScopedVariable own("Legion_DIR", "");
  std::string message = message_of([] { find_legion("/nowhere"); });
  EXPECT_NE(message.find("Legion was not found"), std::string::npos) << message;
  EXPECT_NE(message.find("set Legion_DIR to the folder of a LegionConfig.cmake"), std::string::npos) << message;
}

TEST(LegionLaunch, OneProcessOrSeveral) {
  LegionSettings s = read_legion_settings(kSettings);
  LegionLaunch launch{"/bin/p", 1, 2, 2, 3 << 20, {"--json"}};
  EXPECT_EQ(legion_command(launch, s), (std::vector<std::string>{"/bin/p", "-ll:cpu", "2", "-ll:csize", "3", "-level",
                                                                 "5", "-ll:networks", "none", "--json"}));
  EXPECT_EQ(legion_environment(launch, s), (std::vector<std::string>{"A=1", "B=2"}));
  launch.ranks = 2;
  EXPECT_EQ(legion_command(launch, s),
            (std::vector<std::string>{"/bin/mpirun", "--quiet", "-n", "2", "/bin/p", "-ll:cpu", "2", "-ll:csize", "3",
                                      "-level", "5", "-ll:bgwork", "1", "--json"}));
  EXPECT_EQ(legion_environment(launch, s), (std::vector<std::string>{"A=1", "B=2", "C=3"}));
  launch.ranks = 1;
  launch.gpus = 2;
  launch.gpu_bytes = 5 << 20;
  EXPECT_EQ(legion_command(launch, s),
            (std::vector<std::string>{"/bin/p", "-ll:cpu", "2", "-ll:csize", "3", "-ll:gpu", "2", "-ll:fsize", "5",
                                      "-ll:zsize", "256", "-level", "5", "-ll:networks", "none", "--json"}));
  launch.ranks = 2;
  s.mpirun.clear();
  EXPECT_NE(message_of([&] { legion_command(launch, s); }).find("several processes need mpirun, which was not found"),
            std::string::npos);
}

TEST(LegionBuild, SaysWhatIsMissing) {
  test::CacheFolder cache(testing::TempDir() + "/distal-legion-build");
  LegionSettings s = read_legion_settings(kSettings);
  std::map<std::string, std::string> wrong{{"CMakeLists.txt", "message(FATAL_ERROR \"on purpose\")\n"}};
  std::string message = message_of([&] { build_legion(wrong, "wrong", s); });
  EXPECT_NE(message.find("the Legion program could not be built"), std::string::npos) << message;
  EXPECT_NE(message.find("the build log is "), std::string::npos) << message;
  ScopedVariable path("PATH", "/nowhere");
  message = message_of([&] { build_legion(wrong, "other", s); });
  EXPECT_NE(message.find("cmake was not found; it builds the Legion program"), std::string::npos) << message;
  std::filesystem::remove_all(testing::TempDir() + "/distal-legion-build");
}

}  // namespace
}  // namespace distal::core
