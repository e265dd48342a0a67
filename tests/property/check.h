#pragma once

#include <string>

#include "coverage.h"

namespace distal::core::property {

struct CheckOptions {
  bool generated_leaf = false;  // compile the leaves too, which takes about half a second each
  bool one_way = false;         // only with memory of its own and interpreted leaves, for who has many programs
  bool plan_only = false;       // compile and plan, for the features; nothing runs
};

// What became of a program.
struct Outcome {
  enum class Kind {
    Passed,
    Refused,  // by an Error, which is what the user would be told
    Failed,   // anything that must not happen
  };
  Kind kind = Kind::Passed;
  std::string manner;  // of a failure: what a smaller program must do too to count as the same failure
  std::string detail;
  Features features;  // also of a program that failed, as far as it came
};

// Runs a program in every way that the threads engine has, with the plan's verifier, and holds all of it against the
// reference: the results in every replica, what was moved, and how much memory it took.
Outcome check_program(const std::string& text, const CheckOptions& options = {});

}  // namespace distal::core::property
