#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "cli/saved_check.h"
#include "engine/legion/build.h"
#include "engine/legion/emit.h"
#include "engine/legion/launch.h"
#include "engine/legion/program.h"
#include "lang/parse.h"
#include "lang/validate.h"
#include "lower/compile.h"
#include "schedule/expand_precomputes.h"
#include "support/cache.h"
#include "support/environment.h"
#include "support/process.h"

namespace distal::core::test {

// A program to run on Legion.
struct LegionProgram {
  std::string text;
  Module module;
  LegionSource source;
};

// Throws an Error if it is not legal, or too much for Legion.
inline LegionProgram legion_test_program(const std::string& name, const std::string& text, ElementType type) {
  Module module = parse_module(text, name);
  module.type = type;
  validate(expand_precomputes(module), bind(module, {}));
  LegionProgram out{text, module, {name, legion_program(module)}};
  emit_legion({out.source});
  return out;
}

// Many programs in one executable, as compiling for Legion is slow.
class LegionExecutable {
 public:
  // Nothing where there is no Legion.
  void build(std::vector<LegionProgram> programs) {
    if (environment("DISTAL_LEGION") == "off") return;
    try {
      settings_ = find_legion();
    } catch (const Error&) {
      return;
    }
    std::vector<LegionSource> sources;
    for (LegionProgram& p : programs) {
      sources.push_back(p.source);
      programs_.emplace(p.source.name, std::move(p));
    }
    executable_ = build_legion(emit_legion(sources), sources[0].name, settings_);
  }

  bool exists() const { return !executable_.empty(); }
  bool has_processes() const { return !settings_.mpirun.empty(); }
  const std::map<std::string, LegionProgram>& programs() const { return programs_; }

  // Runs one of them, and compares what its statements made with the reference.
  void run(const std::string& name, const Bindings& set, int ranks) const {
    const LegionProgram& program = programs_.at(name);
    std::string values;
    for (const auto& [param, value] : set) values += fmt::format("{}{}={}", values.empty() ? "" : ",", param, value);
    SCOPED_TRACE(fmt::format("{} with {} in {} processes\n{}", name, values, ranks, program.text));
    std::filesystem::path folder = unique_name(std::filesystem::path(testing::TempDir()) / "distal-legion");
    std::filesystem::create_directories(folder);
    LegionLaunch launch{executable_, ranks,     4 / ranks,
                        2,           256 << 20, {"--program", name, "--json", "--check", "--after", folder.string()}};
    if (!values.empty()) launch.arguments.insert(launch.arguments.end(), {"--set", values});
    std::vector<std::string> command{on_path("timeout"), "90"};
    for (const std::string& word : legion_command(launch, settings_)) command.push_back(word);
    int status = run_process(command, {legion_environment(launch, settings_), folder / "log", {}});
    // Runs of several processes on few cores were seen that did not come to an end: docs/legion.md.
    if (ranks > 1 && status == kTimedOut) {
      std::cout << name << " did not end in " << ranks << " processes, and is tried again\n" << std::flush;
      status = run_process(command, {legion_environment(launch, settings_), folder / "log", {}});
    }
    ASSERT_EQ(status, 0) << read_text(folder / "log");
    Plan plan = make_plan(compile(program.module), bind(program.module, set));
    CheckResult result = check_saved(plan, Dataset(plan, {}, 1), folder, 0, 1);
    EXPECT_TRUE(result.ok) << result.first_wrong;
    if (is_integer(program.module.type)) {
      EXPECT_EQ(result.max_relative_error, 0);
    }
    std::filesystem::remove_all(folder);
  }

 private:
  static constexpr int kTimedOut = 124;  // as timeout says it

  LegionSettings settings_;
  std::map<std::string, LegionProgram> programs_;
  std::string executable_;
};

}  // namespace distal::core::test
