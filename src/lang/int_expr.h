#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/error.h"

namespace distal::core {

// The values of parameters (and, inside the compiler, of loop variables) by name.
using Bindings = std::map<std::string, int64_t>;

// An integer expression over parameters and loop variables. Immutable; copies share.
class IntExpr {
 public:
  enum class Kind { Constant, Name, Add, Sub, Mul, FloorDiv, Mod, CeilDiv, Min, Max };

  IntExpr(int64_t value = 0);  // NOLINT: a number is an expression
  static IntExpr constant(int64_t value, SourceSpan span);
  static IntExpr name(std::string name, SourceSpan span = {});

  // Constants fold, and the neutral elements 0 and 1 vanish; nothing else is rewritten.
  static IntExpr make(Kind kind, IntExpr a, IntExpr b, SourceSpan span = {});

  Kind kind() const { return node_->kind; }
  int64_t value() const { return node_->value; }
  const std::string& name() const { return node_->name; }
  const IntExpr& a() const { return node_->args[0]; }
  const IntExpr& b() const { return node_->args[1]; }
  const SourceSpan& span() const { return node_->span; }

  // How many operators it has when it is written out. Copies share, so this can be far more than is stored.
  int64_t operators() const { return node_->operators; }

  bool is_constant() const { return kind() == Kind::Constant; }
  bool is_constant(int64_t v) const { return is_constant() && value() == v; }

  // Refuses unknown names, division by a number below 1 and overflow, each at its place in the source.
  int64_t evaluate(const Bindings& bindings) const;
  IntExpr substitute(const std::map<std::string, IntExpr>& by) const;
  void collect_names(std::set<std::string>& names) const;
  std::string to_string() const;

  friend bool operator==(const IntExpr& x, const IntExpr& y);

 private:
  struct Node {
    Kind kind = Kind::Constant;
    int64_t value = 0;
    std::string name;
    std::vector<IntExpr> args;
    SourceSpan span;
    int64_t operators = 0;
  };
  explicit IntExpr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

IntExpr operator+(const IntExpr& a, const IntExpr& b);
IntExpr operator-(const IntExpr& a, const IntExpr& b);
IntExpr operator*(const IntExpr& a, const IntExpr& b);
IntExpr floor_div(const IntExpr& a, const IntExpr& b);
IntExpr floor_mod(const IntExpr& a, const IntExpr& b);
IntExpr ceil_div(const IntExpr& a, const IntExpr& b);
IntExpr min(const IntExpr& a, const IntExpr& b);
IntExpr max(const IntExpr& a, const IntExpr& b);

}  // namespace distal::core
