#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "cli/saved_check.h"
#include "engine/legion/build.h"
#include "engine/legion/emit.h"
#include "engine/legion/launch.h"
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

// A run of one of the programs, with values of its params.
struct LegionRun {
  std::string name;
  Bindings set;
};

// Throws an Error if the program is not legal, or exceeds a limit of Legion.
inline LegionProgram legion_test_program(const std::string& name, const std::string& text, ElementType type) {
  Module module = parse_module(text, name);
  module.type = type;
  validate(expand_precomputes(module), bind(module, {}));
  LegionProgram out{text, module, {name, compile(module)}};
  emit_legion({out.source});
  return out;
}

// Many programs in one executable, because compiling for Legion is slow. Many runs share one start of it, because
// starting Legion is slow too.
class LegionExecutable {
 public:
  // Builds the executable; does nothing on a machine without Legion.
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

  // Makes all runs in one start of Legion, and compares the output of each statement with the reference.
  void run(const std::vector<LegionRun>& runs, int ranks) const {
    SCOPED_TRACE(fmt::format("{} runs in {} processes", runs.size(), ranks));
    std::filesystem::path folder = unique_name(std::filesystem::path(testing::TempDir()) / "distal-legion");
    std::vector<std::string> words;
    for (size_t i = 0; i < runs.size(); ++i) {
      std::filesystem::path after = folder / std::to_string(i);
      std::filesystem::create_directories(after);
      if (i > 0) words.emplace_back("--then");
      for (std::string& word : words_of(runs[i], after.string())) words.push_back(std::move(word));
    }
    LegionLaunch launch{executable_, ranks, 4 / ranks, 2, 256 << 20, std::move(words)};
    int status = start(launch, folder / "log", kSecondsToStart + runs.size());
    std::string log = read_text(folder / "log");
    size_t ended = reports_in(log);
    if (status != 0 || ended != runs.size()) {
      ADD_FAILURE() << "status " << status << " after " << ended << " runs; the next one is "
                    << (ended < runs.size() ? described(runs[ended]) : "none") << "\n"
                    << log;
    }
    for (size_t i = 0; i < std::min(ended, runs.size()); ++i) check(runs[i], folder / std::to_string(i));
    std::filesystem::remove_all(folder);
  }

 private:
  static constexpr int kTimedOut = 124;  // the exit status of `timeout`
  static constexpr size_t kSecondsToStart = 90;

  static std::string settings_text(const Bindings& set) {
    std::string out;
    for (const auto& [param, value] : set) out += fmt::format("{}{}={}", out.empty() ? "" : ",", param, value);
    return out;
  }

  static std::vector<std::string> words_of(const LegionRun& run, const std::string& after) {
    std::vector<std::string> out{"--program", run.name, "--json", "--check", "--after", after};
    if (!run.set.empty()) out.insert(out.end(), {"--set", settings_text(run.set)});
    return out;
  }

  std::string described(const LegionRun& run) const {
    return fmt::format("{} with {}\n{}", run.name, settings_text(run.set), programs_.at(run.name).text);
  }

  // Every run ends with a line of JSON.
  static size_t reports_in(const std::string& log) {
    size_t out = 0;
    for (size_t at = log.find("{\"seconds\""); at != std::string::npos; at = log.find("{\"seconds\"", at + 1)) ++out;
    return out;
  }

  int start(const LegionLaunch& launch, const std::filesystem::path& log, size_t seconds) const {
    std::vector<std::string> command{on_path("timeout"), std::to_string(seconds)};
    for (const std::string& word : legion_command(launch, settings_)) command.push_back(word);
    int status = run_process(command, {legion_environment(launch, settings_), log, {}});
    // A job of several processes may hang: see the limits in docs/legion.md.
    if (launch.ranks > 1 && status == kTimedOut) {
      std::cout << "a job of " << launch.ranks << " processes did not end, and is tried again\n" << std::flush;
      status = run_process(command, {legion_environment(launch, settings_), log, {}});
    }
    return status;
  }

  void check(const LegionRun& run, const std::filesystem::path& folder) const {
    SCOPED_TRACE(described(run));
    const LegionProgram& program = programs_.at(run.name);
    Plan plan = make_plan(compile(program.module), bind(program.module, run.set));
    CheckResult result = check_saved(plan, Dataset(plan, {}, 1), folder, 0, 1);
    EXPECT_TRUE(result.ok) << result.first_wrong;
    if (is_integer(program.module.type)) {
      EXPECT_EQ(result.max_relative_error, 0);
    }
  }

  LegionSettings settings_;
  std::map<std::string, LegionProgram> programs_;
  std::string executable_;
};

}  // namespace distal::core::test
