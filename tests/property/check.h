#pragma once

#include <string>

#include "coverage.h"

namespace distal::core::property {

struct CheckOptions {
  bool generated_leaf = false;  // compile the leaves too: about half a second for each
  bool one_mode = false;        // only the first mode (own memory, interpreted leaves), for a caller with many programs
  bool plan_only = false;       // compile and plan, for the features; nothing runs
};

// The result of checking a program.
struct Outcome {
  enum class Kind {
    Passed,
    Refused,  // by an Error, like a wrong program of a user
    Failed,   // with a wrong result, or in any other way that must not happen
  };
  Kind kind = Kind::Passed;
  std::string signature;  // of a failure; two programs fail in the same way if their signatures are equal
  std::string detail;
  Features features;  // of a program that failed: those found before the failure
};

// Verifies and runs a program in every mode of the threads engine. Checks the results in every replica against the
// reference, and the bytes, messages and memory against the plan and the definition.
Outcome check_program(const std::string& text, const CheckOptions& options = {});

}  // namespace distal::core::property
