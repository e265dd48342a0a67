#pragma once

#include <string>
#include <vector>

namespace distal::core::property {

// A shrunk program that failed once, and what was wrong.
struct Regression {
  std::string what;
  std::string text;
  bool refused = false;  // whether it must be refused
};

const std::vector<Regression>& regressions();

}  // namespace distal::core::property
