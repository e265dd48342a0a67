#pragma once

#include <memory>
#include <string>
#include <vector>

namespace distal {

namespace core {
class Expr;
}

class TensorHandle;
struct TensorState;

// A variable of index notation, or a loop made from one. Copies are the same variable.
class IndexVar {
 public:
  IndexVar();  // gets a name of its own
  explicit IndexVar(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

// The right side of a statement.
class Expr {
 public:
  Expr(double literal);              // NOLINT: a number is an expression
  Expr(int literal);                 // NOLINT
  Expr(const TensorHandle& scalar);  // NOLINT: and so is a scalar tensor
  explicit Expr(core::Expr expr, std::vector<std::shared_ptr<TensorState>> tensors);

  const core::Expr& expr() const { return *expr_; }
  const std::vector<std::shared_ptr<TensorState>>& tensors() const { return tensors_; }

 private:
  std::shared_ptr<const core::Expr> expr_;
  std::vector<std::shared_ptr<TensorState>> tensors_;  // all that stand in it
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);

// A(i, j): on the left of = or += it defines A, elsewhere it is an expression.
class Access : public Expr {
 public:
  Access(std::shared_ptr<TensorState> tensor, const std::vector<IndexVar>& indices);
  Access(const Access&) = default;

  void operator=(const Expr& right);    // NOLINT: a definition, not an assignment of handles
  void operator=(const Access& right);  // NOLINT
  void operator+=(const Expr& right);

 private:
  void define(const Expr& right, bool accumulate);
  std::shared_ptr<TensorState> tensor_;
  std::vector<IndexVar> indices_;
};

}  // namespace distal
