// The command line of an emitted program, apart from Legion's own flags. `--then` begins the options of another run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "grid.h"

namespace distal_legion {

struct Options {
  std::string program;                            // which of the executable's programs to run
  std::map<std::string, Int> set;                 // params
  std::map<std::string, std::string> load, save;  // by tensor: its .npy file
  std::string after;                              // the folder for each statement's output right after the statement
  int reps = 1;
  std::uint64_t seed = 1;
  enum class Check { Sampled, All, None } check = Check::Sampled;
  bool json = false;
  bool paced = false;  // a repetition begins at a line of input
  Int memory = 0;      // bytes for tensors and copies on all processors together; 0: what Legion has
};

[[noreturn]] inline void fail(int status, const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::fflush(nullptr);
  std::_Exit(status);
}

inline const char* usage() {
  return "usage: PROGRAM [--set n=512,g=2] [--reps N] [--check | --no-check] [--json] [--seed N] [--load B=b.npy]\n"
         "               [--save A=a.npy] [--memory BYTES] [--paced] [--program NAME] [--then OPTIONS OF ANOTHER RUN]\n"
         "               [Legion's flags, such as -ll:cpu 4 -ll:csize 4096]\n";
}

inline Int number_of(const std::string& text) {
  char* end = nullptr;
  Int out = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != 0) fail(2, "`" + text + "` is not a number");
  return out;
}

// Calls f(name, value) for each setting of "a=1,b=2".
template <class F>
void for_each_setting(const std::string& text, const F& f) {
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size()), equals = text.find('=', at);
    if (equals == std::string::npos || equals > end) fail(2, "`" + text.substr(at, end - at) + "` is not NAME=VALUE");
    f(text.substr(at, equals - at), text.substr(equals + 1, end - equals - 1));
    at = end + 1;
  }
}

// The options of every run. Options that begin with one dash are Legion's, and skipped.
inline std::vector<Options> parse_runs(int argc, char** argv) {
  std::vector<Options> runs(1);
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word.rfind("--", 0) != 0) continue;
    Options& out = runs.back();
    auto value = [&]() -> std::string {
      if (i + 1 == argc) fail(2, word + " needs a value");
      return argv[++i];
    };
    if (word == "--help") {
      std::printf("%s", usage());
      std::exit(0);
    }
    if (word == "--then")
      runs.emplace_back();
    else if (word == "--check")
      out.check = Options::Check::All;
    else if (word == "--no-check")
      out.check = Options::Check::None;
    else if (word == "--json")
      out.json = true;
    else if (word == "--paced")
      out.paced = true;
    else if (word == "--program")
      out.program = value();
    else if (word == "--reps")
      out.reps = static_cast<int>(max(1, number_of(value())));
    else if (word == "--seed")
      out.seed = static_cast<std::uint64_t>(number_of(value()));
    else if (word == "--memory")
      out.memory = number_of(value());
    else if (word == "--after")
      out.after = value();
    else if (word == "--set")
      for_each_setting(value(), [&](auto n, auto v) { out.set[n] = number_of(v); });
    else if (word == "--load")
      for_each_setting(value(), [&](auto n, auto v) { out.load[n] = v; });
    else if (word == "--save")
      for_each_setting(value(), [&](auto n, auto v) { out.save[n] = v; });
    else
      fail(2, "there is no option " + word + "\n" + usage());
  }
  return runs;
}

// The values of --set, which the program's params take one by one.
class Settings {
 public:
  explicit Settings(const Options& options) : left_(options.set) {}

  Int param(const char* name, Int otherwise) {
    auto found = left_.find(name);
    if (found == left_.end()) return otherwise;
    Int out = found->second;
    left_.erase(found);
    return out;
  }

  // To be called after all params have their values: exits if a value was given for an unknown param.
  void require_known() const {
    if (!left_.empty()) fail(2, "there is no param " + left_.begin()->first);
  }

 private:
  std::map<std::string, Int> left_;
};

}  // namespace distal_legion
