// Random programs on Legion, in one process and in two, against the reference: exactly, on integers. All of them are in
// one executable, as compiling for Legion is slow.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "cli/saved_check.h"
#include "engine/legion/build.h"
#include "engine/legion/emit.h"
#include "engine/legion/launch.h"
#include "engine/legion/program.h"
#include "lang/parse.h"
#include "lang/validate.h"
#include "lower/compile.h"
#include "property/generate.h"
#include "schedule/expand_precomputes.h"
#include "support/cache.h"
#include "support/environment.h"
#include "support/process.h"

namespace distal::core {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPrograms = 60;
constexpr size_t kInTwoProcesses = 10;
constexpr uint64_t kFirstSeed = 5'000'000;  // others than those of the threads engine

struct RandomProgram {
  uint64_t seed;
  std::string text;
  LegionSource source;
  Plan plan;
};

// Those that are legal, until there are enough.
std::vector<RandomProgram> legal_programs() {
  std::vector<RandomProgram> out;
  for (uint64_t seed = kFirstSeed; out.size() < kPrograms; ++seed) {
    std::string text = property::generate_program(seed).text;
    try {
      Module module = parse_module(text, "random");
      module.type = ElementType::Int64;
      Bindings params = bind(module, {});
      validate(expand_precomputes(module), params);
      Plan plan = make_plan(compile(module), params);
      LegionSource source{fmt::format("seed_{}", seed), legion_program(module)};
      emit_legion({source});
      out.push_back({seed, text, source, std::move(plan)});
    } catch (const Error&) {
    }
  }
  return out;
}

class OnLegion : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (environment("DISTAL_LEGION") == "off") return;
    try {
      settings_ = find_legion();
    } catch (const Error&) {
      return;
    }
    programs_ = legal_programs();
    std::vector<LegionSource> sources;
    for (const RandomProgram& p : programs_) sources.push_back(p.source);
    executable_ = build_legion(emit_legion(sources), sources[0].name, settings_);
  }

  void run(const RandomProgram& program, int ranks) {
    SCOPED_TRACE(fmt::format("seed {}\n{}", program.seed, program.text));
    fs::path folder = fs::path(testing::TempDir()) / fmt::format("distal-legion-{}", program.seed);
    fs::remove_all(folder);
    fs::create_directories(folder);
    LegionLaunch launch{executable_, ranks,
                        4 / ranks,   2,
                        256 << 20,   {"--program", program.source.name, "--json", "--after", folder.string()}};
    std::vector<std::string> command{on_path("timeout"), "60"};
    for (const std::string& word : legion_command(launch, settings_)) command.push_back(word);
    int status = run_process(command, {legion_environment(launch, settings_), folder / "log", {}});
    ASSERT_EQ(status, 0) << read_text(folder / "log");
    CheckResult result = check_saved(program.plan, Dataset(program.plan, {}, 1), folder, 0, 1);
    EXPECT_TRUE(result.ok) << result.first_wrong;
    EXPECT_EQ(result.max_relative_error, 0);
    fs::remove_all(folder);
  }

  static inline LegionSettings settings_;
  static inline std::vector<RandomProgram> programs_;
  static inline std::string executable_;
};

TEST_F(OnLegion, RandomProgramsAgreeWithTheReference) {
  if (programs_.empty()) GTEST_SKIP() << "there is no Legion here";
  for (const RandomProgram& p : programs_) run(p, 1);
}

TEST_F(OnLegion, RandomProgramsInTwoProcesses) {
  if (programs_.empty()) GTEST_SKIP() << "there is no Legion here";
  if (settings_.mpirun.empty()) GTEST_SKIP() << "there is no mpirun here";
  for (size_t p = 0; p < kInTwoProcesses; ++p) run(programs_[p], 2);
}

}  // namespace
}  // namespace distal::core
