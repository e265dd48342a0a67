#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/programs.h"
#include "tune/statement_shape.h"
#include "tune/write_candidate.h"

namespace distal::core::test {

struct Random {
  std::mt19937 engine;
  int64_t pick(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(engine() % static_cast<uint64_t>(most - least + 1));
  }
};

// A program of one statement without formats and schedule: a product of one to four tensors over up to `most_indices`
// indices, each of which stands somewhere on the right. `sums_of_ten` of ten programs may have sums of products.
inline std::string random_statement(Random& random, int64_t most_indices, int64_t most_extent,
                                    int64_t sums_of_ten = 0) {
  bool may_add = random.pick(1, 10) <= sums_of_ten;
  int64_t indices = random.pick(1, most_indices), factors = random.pick(1, 4);
  std::string params = "param ", tensors, statement;
  for (int64_t i = 0; i < indices; ++i) {
    params += fmt::format("{}n{} = {}", i > 0 ? ", " : "", i, random.pick(1, most_extent));
  }
  std::vector<bool> used(static_cast<size_t>(indices), false);
  for (int64_t t = 0; t <= factors; ++t) {
    std::vector<int64_t> mine;
    for (int64_t i = 0; i < indices; ++i) {
      bool is_rest = t == factors && !used[i];
      if (is_rest || (mine.size() < 4 && random.pick(0, 1) == 0)) mine.push_back(i);
    }
    std::shuffle(mine.begin(), mine.end(), random.engine);
    std::string sizes, access;
    for (int64_t i : mine) {
      if (t > 0) used[i] = true;
      sizes += fmt::format("{}n{}", sizes.empty() ? "" : ", ", i);
      access += fmt::format("{}{}", access.empty() ? "" : ", ", static_cast<char>('i' + i));
    }
    std::string name(1, static_cast<char>('A' + t));
    tensors += fmt::format("tensor {}{}\n", name, sizes.empty() ? "" : "(" + sizes + ")");
    std::string before = t == 0                  ? ""
                         : t > 1                 ? (may_add && random.pick(0, 1) == 0 ? " + " : " * ")
                         : random.pick(0, 4) > 0 ? " = "
                                                 : " += ";
    statement += before + name + (access.empty() ? "" : "(" + access + ")");
  }
  return params + "\n" + tensors + statement + "\n";
}

inline StatementShape shape_of_text(const std::string& text, const std::string& settings = {}) {
  Module module = parse_text(text);
  return shape_of(module, module.statements[0].statement, distal::core::bind(module, settings_of(settings)));
}

// The program with the machine, the formats and the schedule of a candidate.
inline Module with_candidate(Module module, const StatementShape& shape, const Candidate& candidate) {
  const Statement statement = module.statements[0].statement;
  Module out = module;
  out.machines = {machine_of(candidate, "M")};
  for (size_t t = 0; t < shape.tensors.size(); ++t) {
    auto tensor = std::find_if(out.tensors.begin(), out.tensors.end(),
                               [&](const Tensor& other) { return other.name == shape.tensors[t].name; });
    tensor->machine = out.machines[0];
    tensor->distribution = distribution_of(module, statement, shape, candidate, static_cast<int>(t));
  }
  out.statements[0].schedule = schedule_of(module, statement, shape, candidate, "M");
  return out;
}

}  // namespace distal::core::test
