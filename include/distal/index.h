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

// A variable of index notation, or a loop made from one. A copy is the same variable. Two variables of one statement
// must not have the same name.
class IndexVar {
 public:
  IndexVar() : IndexVar(std::string()) {}  // without a name: every program gives it one
  // With a name, as errors and Kernel::text() show it.
  explicit IndexVar(std::string name) : name_(std::make_shared<const std::string>(std::move(name))) {}
  const std::string& name() const { return *name_; }    // empty if it has none
  const void* identity() const { return name_.get(); }  // for use by the library only

 private:
  std::shared_ptr<const std::string> name_;
};

// The right side of a statement.
class Expr {
 public:
  Expr(double literal);              // NOLINT: a number
  Expr(int literal);                 // NOLINT: an integer
  Expr(const TensorHandle& scalar);  // NOLINT: a tensor without dimensions
  // For use by the library only.
  explicit Expr(core::Expr expr, std::vector<std::shared_ptr<TensorState>> tensors, std::vector<IndexVar> variables);

  const core::Expr& expr() const { return *expr_; }                                      // for use by the library only
  const std::vector<std::shared_ptr<TensorState>>& tensors() const { return tensors_; }  // for use by the library only
  const std::vector<IndexVar>& variables() const { return variables_; }                  // for use by the library only

 private:
  std::shared_ptr<const core::Expr> expr_;
  std::vector<std::shared_ptr<TensorState>> tensors_;  // all tensors of the expression
  std::vector<IndexVar> variables_;                    // all variables of the expression
};

Expr operator+(const Expr& a, const Expr& b);  // the sum; a sum over an index covers only the terms that use it
Expr operator-(const Expr& a, const Expr& b);  // the difference
Expr operator*(const Expr& a, const Expr& b);  // the product
Expr operator-(const Expr& a);                 // the negation

// A(i, j). On the left of = or += it defines A; elsewhere it is an expression.
class Access : public Expr {
 public:
  // For use by the library only: call TensorHandle::operator().
  Access(std::shared_ptr<TensorState> tensor, const std::vector<IndexVar>& indices);
  Access(const Access&) = default;  // a copy is the same access

  void operator=(const Expr& right);    // NOLINT: defines the tensor; it does not assign the handle
  void operator=(const Access& right);  // NOLINT: the same, for A(i, j) = B(i, j)
  void operator+=(const Expr& right);   // defines the tensor as its old value plus the right side

 private:
  void define(const Expr& right, bool accumulate);
  std::shared_ptr<TensorState> tensor_;
  std::vector<IndexVar> indices_;
};

}  // namespace distal
