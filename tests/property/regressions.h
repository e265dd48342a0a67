#pragma once

#include <string>
#include <vector>

namespace distal::core::property {

// A program that failed once, made small, and what went wrong then.
struct Regression {
  std::string what;
  std::string text;
  bool refused = false;  // whether it must be refused
};

const std::vector<Regression>& regressions();

}  // namespace distal::core::property
