#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "support/programs.h"
#include "tune/find.h"
#include "tune/find_parts.h"
#include "tune/statement_shape.h"
#include "tune/write_candidate.h"

namespace distal::core::test {

// The time that this process computed. On a busy machine it waits, too, which says nothing.
inline double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

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

// A format of a tensor of this many dimensions: each dimension of the machine cuts one, is a face, or broadcasts.
inline std::string random_format(Random& random, int64_t dimensions, const std::vector<std::vector<int64_t>>& grid,
                                 bool may_broadcast) {
  const std::string names = "abcdefgh";
  std::string out;
  for (const std::vector<int64_t>& level : grid) {
    std::string roles;
    for (int64_t extent : level) {
      char role = names[static_cast<size_t>(random.pick(0, std::max<int64_t>(0, dimensions - 1)))];
      if (dimensions == 0 || random.pick(0, 3) == 0 || roles.find(role) != std::string::npos) {
        role = may_broadcast && random.pick(0, 1) == 0
                   ? '*'
                   : static_cast<char>('0' + random.pick(0, std::min<int64_t>(9, extent - 1)));
      }
      roles += role;
    }
    if (!out.empty()) out += ", ";
    out += names.substr(0, static_cast<size_t>(dimensions)) + " -> " + roles;
    size_t cut = roles.find_first_of(names);
    if (cut != std::string::npos && random.pick(0, 3) == 0) {
      out += fmt::format(" cyclic({} = {})", roles[cut], random.pick(1, 4));
    }
  }
  return out;
}

// Machines of one or two levels.
inline std::vector<std::vector<int64_t>> random_grid(Random& random) {
  std::vector<std::vector<int64_t>> grid(static_cast<size_t>(random.pick(1, 2)));
  int64_t processors = 1;
  for (std::vector<int64_t>& level : grid) {
    for (int64_t d = random.pick(1, 2); d > 0; --d) {
      level.push_back(random.pick(1, std::max<int64_t>(1, std::min<int64_t>(4, 16 / processors))));
      processors *= level.back();
    }
  }
  return grid;
}

inline std::string machine_text(const std::vector<std::vector<int64_t>>& grid) {
  std::string out;
  for (const std::vector<int64_t>& level : grid) {
    out += fmt::format("{}Grid({})", out.empty() ? "machine M = " : " of ", fmt::join(level, ", "));
  }
  return out + "\n";
}

// A random statement on a random machine, or on processors without a grid; a share of the formats is given.
inline std::string random_program(Random& random, int64_t given_of_ten) {
  std::vector<std::vector<int64_t>> grid = random_grid(random);
  bool has_grid = random.pick(0, 1) == 0;
  if (!has_grid) grid = {{random.pick(1, 16)}};
  Module module = parse_text(random_statement(random, 4, 14, 3));
  std::string text = to_string(module);
  std::string params = text.substr(0, text.find('\n') + 1), out = params;
  out += has_grid ? machine_text(grid) : fmt::format("machine M = {} processors\n", grid[0][0]);
  for (size_t t = 0; t < module.tensors.size(); ++t) {
    std::string line = fmt::format("tensor {}", module.tensors[t].name);
    std::string sizes;
    for (const IntExpr& size : module.tensors[t].dimensions) sizes += (sizes.empty() ? "" : ", ") + size.to_string();
    if (!sizes.empty()) line += "(" + sizes + ")";
    if (random.pick(1, 10) <= given_of_ten) {
      line += " : " + random_format(random, static_cast<int64_t>(module.tensors[t].dimensions.size()), grid, t > 0);
    }
    out += line + " on M\n";
  }
  return out + to_string(module.statements[0].statement) + "\n";
}

// A product of matrices whose tensors are all dealt out in blocks of one size.
inline std::string random_blocks(Random& random) {
  int64_t gx = random.pick(1, 3), gy = random.pick(2, 4), block = random.pick(1, 3);
  std::string text = fmt::format("param ni = {}, nj = {}, nk = {}\nmachine M = Grid({}, {})\n", random.pick(4, 20),
                                 random.pick(4, 20), random.pick(4, 20), gx, gy);
  for (const char* tensor : {"A(ni, nj)", "B(ni, nk)", "C(nk, nj)"}) {
    text += fmt::format("tensor {} : xy -> xy cyclic(x = {}, y = {}) on M\n", tensor, block, block);
  }
  return text + (random.pick(0, 1) == 0 ? "A(i, j) = B(i, k) * C(k, j)\n" : "A(i, j) += B(i, k) * C(k, j)\n");
}

// Finds what a program leaves out with 60 to 90 % of the memory that it would take, or with the least that will do.
inline FoundProgram find_with_steps(const Module& module, const Bindings& params, FindOptions options, Random& random) {
  FoundProgram found = find_what_is_left_out(module, params, options);
  options.memory_bytes = memory_of(found.module, params, found.statements) * random.pick(6, 9) / 10;
  try {
    return find_what_is_left_out(module, params, options);
  } catch (const DoesNotFit& refusal) {
    options.memory_bytes = refusal.least_bytes();
    return find_what_is_left_out(module, params, options);
  }
}

// A program whose accesses are of all kinds: a tensor several times with other indices, repeated and shifted indices,
// indices that only the output has, an output that is read, and outputs with replicas. All indices have one extent n,
// and tensors that are accessed with shifts have n + 2.
class RandomAccesses {
 public:
  explicit RandomAccesses(Random& random) : random_(random), indices_(random.pick(1, 3)) {}

  std::string program() {
    std::vector<std::vector<int64_t>> grid = random_grid(random_);
    bool has_grid = random_.pick(0, 1) == 0;
    if (!has_grid) grid = {{random_.pick(1, 12)}};
    bool adds = random_.pick(0, 2) == 0;
    std::vector<bool> shifts{adds && random_.pick(0, 3) == 0};
    std::vector<int64_t> dimensions{random_.pick(0, 3)};
    for (int64_t t = random_.pick(1, 3); t > 0; --t) {
      shifts.push_back(random_.pick(0, 3) == 0);
      dimensions.push_back(random_.pick(0, 3));
    }
    shifts.push_back(false);  // this one gives all indices their extent
    dimensions.push_back(indices_);
    std::string text = fmt::format("param n = {}, m = n + 2\n", random_.pick(1, 9));
    text += has_grid ? machine_text(grid) : fmt::format("machine M = {} processors\n", grid[0][0]);
    for (size_t t = 0; t < dimensions.size(); ++t) {
      text += fmt::format("tensor {}{}", name(t), in_parentheses(dimensions[t], shifts[t] ? "m" : "n"));
      if (random_.pick(0, 2) == 0) text += " : " + random_format(random_, dimensions[t], grid, true);
      text += " on M\n";
    }
    std::string left = name(0) + indices_of(dimensions[0], shifts[0]);
    std::string right = name(dimensions.size() - 1) + all_indices();
    for (int64_t a = random_.pick(1, 4); a > 0; --a) {
      auto t = static_cast<size_t>(random_.pick(1, static_cast<int64_t>(dimensions.size()) - 1));
      right += (random_.pick(0, 3) == 0 ? " + " : " * ") + name(t) + indices_of(dimensions[t], shifts[t]);
    }
    if (random_.pick(0, 3) == 0) right += " + " + left;
    return text + left + (adds ? " += " : " = ") + right + "\n";
  }

 private:
  static std::string name(size_t tensor) { return {static_cast<char>('A' + tensor)}; }

  static std::string in_parentheses(int64_t times, const std::string& word) {
    return times == 0
               ? ""
               : fmt::format("({})", fmt::join(std::vector<std::string>(static_cast<size_t>(times), word), ", "));
  }

  std::string indices_of(int64_t dimensions, bool shifts) {
    std::vector<std::string> words;
    for (int64_t d = 0; d < dimensions; ++d) {
      words.emplace_back(1, static_cast<char>('i' + random_.pick(0, indices_ - 1)));
      if (shifts) words.back() += fmt::format(" + {}", random_.pick(0, 2));
    }
    return words.empty() ? "" : fmt::format("({})", fmt::join(words, ", "));
  }

  std::string all_indices() const {
    std::vector<std::string> words;
    for (int64_t i = 0; i < indices_; ++i) words.emplace_back(1, static_cast<char>('i' + i));
    return fmt::format("({})", fmt::join(words, ", "));
  }

  Random& random_;
  int64_t indices_;
};

}  // namespace distal::core::test
