#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "random_choice.h"

namespace distal::core::property {

// The generator's own model of the program that it writes. It does not ask the compiler, so a legal command that the
// compiler wrongly refuses is still generated.

// A number of the program: its value and its text.
struct Quantity {
  int64_t value = 1;
  std::string text;
};

struct Grid {
  std::vector<Quantity> extents;
};

struct Machine {
  std::string name;  // empty if the program declares none
  std::vector<Grid> levels;
  std::string text;  // behind the `=` of its declaration
};

struct Role {
  enum class Kind { Partition, Fix, Broadcast } kind = Kind::Broadcast;
  int dimension = 0;  // of the tensor, for a partition
  bool cyclic = false;
};

struct Tensor {
  std::string name;
  std::vector<std::string> sizes;         // names of params, one per dimension
  std::vector<std::vector<Role>> levels;  // the distribution; empty if there is none
  std::string machine{};                  // the name of the machine that has the levels
};

struct TensorAccess {
  std::string tensor;
  std::vector<std::string> indices;
  std::vector<std::string> shifts = {};  // by index, such as " + 2"; empty if none is shifted
};

// A factor of a product: an access, a literal, or a sum in parentheses.
struct Factor {
  std::string text;
  std::vector<TensorAccess> accesses;
  std::vector<std::string> variables;  // by first appearance
  std::vector<std::string> common;     // the variables that every addend inside uses
};

// An addend: a product and its sign.
struct Term {
  std::string sign;  // " + " or " - "; of the first one "" or "-"
  std::vector<Factor> factors;
};

// The parts of a statement that its schedule depends on.
struct Statement {
  TensorAccess lhs;
  std::vector<Term> terms;
  std::vector<TensorAccess> rhs;       // all accesses in the terms
  std::vector<std::string> variables;  // by first appearance, left side first
  bool product_of_two = false;         // the right side is one product of two accesses
};

std::string text_of(const TensorAccess& access);
std::string text_of(const std::vector<Term>& terms);
std::vector<TensorAccess> accesses_of(const std::vector<Term>& terms);
std::vector<std::string> variables_of(const std::vector<Term>& terms);  // by first appearance
Statement make_statement(const TensorAccess& lhs, const std::vector<Term>& terms);

// A subexpression of a right side that precompute computes first, and the rest of the right side.
struct Subexpression {
  std::vector<Term> terms;         // the subexpression
  std::vector<Term> rest;          // a factor without text stands for the workspace
  std::vector<std::string> sums;   // the variables that only the subexpression uses
  std::vector<std::string> free;   // its other variables
  std::vector<std::string> other;  // the variables of the rest and of the left side
};
// Some factors of an addend, some of the first addends, or the whole right side. Nothing where precompute would be
// refused.
std::optional<Subexpression> random_subexpression(Choice& choice, const std::vector<Term>& terms,
                                                  const TensorAccess& lhs);
// The terms of the rest, with `workspace` in place of the subexpression.
std::vector<Term> filled(const Subexpression& part, const TensorAccess& workspace);
// The terms with their variables renamed.
std::vector<Term> renamed(std::vector<Term> terms, const std::map<std::string, std::string>& names);

// Writes numbers into the program, and keeps the params that it declares for them.
class Numbers {
 public:
  explicit Numbers(Choice& choice) : choice_(choice) {}

  void declare(const std::string& name, int64_t value) { params_.emplace_back(name, value); }
  int64_t value(const std::string& name) const {
    for (const auto& [known, value] : params_) {
      if (known == name) return value;
    }
    return 1;
  }

  // The value as a plain number, a param or an expression.
  Quantity write(int64_t value) {
    switch (choice_.weighted({65, 25, 3, 3, 4})) {
      case 1: {
        std::string name = "p" + std::to_string(params_.size());
        declare(name, value);
        return {value, name};
      }
      case 2: return {value, "ceildiv(" + std::to_string(2 * value - 1) + ", 2)"};
      case 3: return {value, "max(1, " + std::to_string(value + 2) + " - 2)"};
      case 4: return {value, std::to_string(2 * value + 1) + " / 2"};
      default: return {value, std::to_string(value)};
    }
  }

  std::string declarations() const {
    std::string out;
    for (const auto& [name, value] : params_) {
      out += (out.empty() ? "param " : ", ") + name + " = " + std::to_string(value);
    }
    return out.empty() ? out : out + "\n";
  }

 private:
  Choice& choice_;
  std::vector<std::pair<std::string, int64_t>> params_;
};

// What a random schedule depends on.
struct ScheduleScope {
  const Statement& statement;
  const std::map<std::string, Tensor>& tensors;   // those of the statement
  const std::map<std::string, int64_t>& extents;  // of the statement's variables
  const Machine* machine = nullptr;               // none: the statement has no machine to be distributed onto
  bool tensors_are_on_machine = false;            // some tensor of the statement has a distribution
  int& next_name;                                 // number of the next new loop; shared by the two parts of a statement
};

// The commands of a schedule, one per line, without the word schedule; empty for none. Nearly all are legal.
std::string random_schedule(Choice& choice, Numbers& numbers, const ScheduleScope& scope);

}  // namespace distal::core::property
