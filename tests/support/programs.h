#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "lang/parse.h"
#include "lang/validate.h"
#include "lower/compile.h"
#include "plan/cost.h"
#include "plan/plan.h"

namespace distal::core::test {

// Parses "ni=37, gx=3" into values by name.
inline Bindings settings_of(const std::string& text) {
  Bindings out;
  std::stringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    size_t equals = word.find('=');
    size_t begin = word.find_first_not_of(' ');
    out[word.substr(begin, equals - begin)] = std::stoll(word.substr(equals + 1));
  }
  return out;
}

inline std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The text of a file of algorithms/.
inline std::string algorithm_text(const std::string& name) {
  return read_text(std::string(DISTAL_SOURCE_DIR) + "/algorithms/" + name + ".distal");
}

inline const std::vector<std::string>& algorithm_names() {
  static const std::vector<std::string> names{"cannon", "contraction4", "cosma", "innerprod", "johnson",
                                              "matvec", "mttkrp",       "pumma", "scalapack", "solomonik",
                                              "summa",  "ttm",          "ttv"};
  return names;
}

inline Module parse_text(const std::string& text) { return parse_module(text, "t.distal"); }

// Validates and compiles a program and makes its Plan. The Plan keeps the Program alive.
inline Plan plan_module(const Module& module, const Bindings& overrides, PlanOptions options = {}) {
  Bindings params = distal::core::bind(module, overrides);
  validate(module, params);
  return make_plan(compile(module), params, options);
}

inline Plan plan_text(const std::string& text, const std::string& settings = {}, PlanOptions options = {}) {
  return plan_module(parse_text(text), settings_of(settings), options);
}

inline Plan plan_algorithm(const std::string& name, const std::string& settings = {}, PlanOptions options = {}) {
  return plan_text(algorithm_text(name), settings, options);
}

inline PlanCost cost_of_text(const std::string& text, const std::string& settings = {}, PlanOptions options = {}) {
  return count_cost(plan_text(text, settings, options));
}

inline PlanCost cost_of_algorithm(const std::string& name, const std::string& settings = {}, PlanOptions options = {}) {
  return cost_of_text(algorithm_text(name), settings, options);
}

// A GEMM on tiles of a 2-D grid, with the given schedule; the sizes and the grid are params.
inline std::string tiled_gemm(const std::string& schedule) {
  return R"(param ni = 12, nj = 10, nk = 14, gx = 2, gy = 2, chunk = 3
machine M = Grid(gx, gy)
tensor A(ni, nj) : xy -> xy on M
tensor B(ni, nk) : xy -> xy on M
tensor C(nk, nj) : xy -> xy on M
A(i, j) = B(i, k) * C(k, j)
schedule
)" + schedule;
}

}  // namespace distal::core::test
