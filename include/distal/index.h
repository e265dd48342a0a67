#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distal/param.h"

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
  IndexVar(const IndexVar&) = default;             // also for std::move, after which both are the same variable
  IndexVar& operator=(const IndexVar&) = default;  // the same

  const std::string& name() const { return *name_; }    // empty if it has none
  const void* identity() const { return name_.get(); }  // for use by the library only

 private:
  std::shared_ptr<const std::string> name_;
};

// An index of an access: a variable, as in B(i), or a variable shifted by an integer, as in B(i + no).
class Index {
 public:
  Index(IndexVar variable) : variable_(std::move(variable)) {}  // NOLINT: a variable

  const IndexVar& variable() const { return variable_; }      // the variable without the shift
  const std::optional<Int>& shift() const { return shift_; }  // none: not shifted, which `i + 0` is

 private:
  friend Index operator+(const Index& index, const Int& by);
  IndexVar variable_;
  std::optional<Int> shift_;
};

Index operator+(const Index& index, const Int& by);  // the index, shifted forwards
Index operator-(const Index& index, const Int& by);  // the index, shifted backwards

// The right side of a statement.
class Expr {
 public:
  Expr(double literal);              // NOLINT: a number
  Expr(int literal);                 // NOLINT: an integer
  Expr(const Int& number);           // NOLINT: sums and products of params and integers, such as 2 * n - 1
  Expr(const TensorHandle& scalar);  // NOLINT: a tensor without dimensions
  // An integer of another type, such as x.size().
  template <std::integral T>
  Expr(T literal) : Expr(Int(literal)) {}  // NOLINT: converts like int
  Expr(const Expr&) = default;             // also for std::move, so that no Expr is empty
  Expr& operator=(const Expr&) = default;  // the same

  // For use by the library only.
  explicit Expr(core::Expr expr, std::vector<std::shared_ptr<TensorState>> tensors, std::vector<IndexVar> variables,
                std::vector<Int> numbers = {});

  const core::Expr& expr() const { return *expr_; }                                      // for use by the library only
  const std::vector<std::shared_ptr<TensorState>>& tensors() const { return tensors_; }  // for use by the library only
  const std::vector<IndexVar>& variables() const { return variables_; }                  // for use by the library only
  const std::vector<Int>& numbers() const { return numbers_; }                           // for use by the library only

 private:
  std::shared_ptr<const core::Expr> expr_;
  std::vector<std::shared_ptr<TensorState>> tensors_;  // all tensors of the expression
  std::vector<IndexVar> variables_;                    // all variables of the expression
  std::vector<Int> numbers_;                           // its params, and the shifts of its indices
};

Expr operator+(const Expr& a, const Expr& b);  // the sum; a sum over an index covers only the terms that use it
Expr operator-(const Expr& a, const Expr& b);  // the difference
Expr operator*(const Expr& a, const Expr& b);  // the product
Expr operator-(const Expr& a);                 // the negation

// A param as a number of a statement, as in n * B(i, j). Between numbers these operators make an Int instead.
template <std::derived_from<Expr> E>
Expr operator+(const Param& a, const E& b) {
  return Expr(Int(a)) + b;
}
// The same, with the param on the right.
template <std::derived_from<Expr> E>
Expr operator+(const E& a, const Param& b) {
  return a + Expr(Int(b));
}
// A param minus an expression.
template <std::derived_from<Expr> E>
Expr operator-(const Param& a, const E& b) {
  return Expr(Int(a)) - b;
}
// An expression minus a param.
template <std::derived_from<Expr> E>
Expr operator-(const E& a, const Param& b) {
  return a - Expr(Int(b));
}
// A param times an expression.
template <std::derived_from<Expr> E>
Expr operator*(const Param& a, const E& b) {
  return Expr(Int(a)) * b;
}
// The same, with the param on the right.
template <std::derived_from<Expr> E>
Expr operator*(const E& a, const Param& b) {
  return a * Expr(Int(b));
}

// A(i, j). On the left of =, += or -= it defines A; elsewhere it is an expression.
class Access : public Expr {
 public:
  // For use by the library only: call TensorHandle::operator().
  Access(std::shared_ptr<TensorState> tensor, const std::vector<Index>& indices);
  // The same, without shifts.
  Access(std::shared_ptr<TensorState> tensor, const std::vector<IndexVar>& indices);
  Access(const Access&) = default;  // a copy is the same access

  void operator=(const Expr& right);    // NOLINT: defines the tensor; it does not assign the handle
  void operator=(const Access& right);  // NOLINT: the same, for A(i, j) = B(i, j)
  void operator=(const Param& right);   // NOLINT: the same, for A(i, j) = n
  void operator+=(const Expr& right);   // defines the tensor as its old value plus the right side
  void operator-=(const Expr& right);   // defines the tensor as its old value minus the whole right side

 private:
  enum class How { Assign, Add, Subtract };
  void define(const Expr& right, How how);
  std::shared_ptr<TensorState> tensor_;
};

}  // namespace distal
