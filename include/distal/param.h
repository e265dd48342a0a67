#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace distal {

namespace core {
class IntExpr;
}

// A number that a compiled kernel takes at run time. A copy is the same param.
class Param {
 public:
  explicit Param(int64_t value = 1);       // without a name: every program gives it one
  Param(std::string name, int64_t value);  // with a name, as errors and Kernel::text() show it

  struct State;  // for use by the library only
  // The param of a state that copies share; for use by the library only.
  explicit Param(std::shared_ptr<State> state) : state_(std::move(state)) {}

  Param(const Param&) = default;                                          // a copy is the same param
  Param& operator=(const Param& other) { return *this = other.value(); }  // copies the value: gx = gy = 4 sets both

  // Sets the value. Kernels that use the param take the new value at their next run.
  Param& operator=(int64_t value);
  int64_t value() const { return state_->value; }           // the current value
  const std::string& name() const { return state_->name; }  // empty if it has none

  // What copies share; for use by the library only.
  struct State {
    std::string name;  // the name of the param
    int64_t value;     // the current value
  };
  const std::shared_ptr<State>& state() const { return state_; }  // for use by the library only

 private:
  std::shared_ptr<State> state_;
};

// An integer expression over params, for sizes, grid extents and split sizes. Immutable; copies share one expression.
class Int {
 public:
  Int(int64_t value);  // NOLINT: a number
  // A number of another integer type, such as x.size().
  template <std::signed_integral T>
  Int(T value) : Int(static_cast<int64_t>(value)) {}  // NOLINT: converts like int64_t
  // The same, unsigned. Throws an Error if it does not fit in an int64_t.
  template <std::unsigned_integral T>
  Int(T value) : Int(from_unsigned(value)) {}  // NOLINT: converts like int64_t
  Int(const Param& param);                     // NOLINT: a param

  Int(const Int&) = default;             // also for std::move, so that no Int is without a value
  Int& operator=(const Int&) = default;  // the same

  int64_t value() const;          // for the current values of its params
  std::string to_string() const;  // as in a .distal file

  const core::IntExpr& expr() const { return *expr_; }                                  // for use by the library only
  const std::vector<std::shared_ptr<Param::State>>& params() const { return params_; }  // for use by the library only

 private:
  static int64_t from_unsigned(uint64_t value);
  friend Int make_int(const core::IntExpr& expr, const Int& a, const Int& b);
  Int() = default;
  std::shared_ptr<const core::IntExpr> expr_;
  std::vector<std::shared_ptr<Param::State>> params_;  // all params of the expression
};

Int operator+(const Int& a, const Int& b);  // the sum
Int operator-(const Int& a, const Int& b);  // the difference
Int operator*(const Int& a, const Int& b);  // the product
Int operator/(const Int& a, const Int& b);  // the quotient, rounded down
Int ceildiv(const Int& a, const Int& b);    // the quotient, rounded up
Int min(const Int& a, const Int& b);        // the smaller one
Int max(const Int& a, const Int& b);        // the larger one

}  // namespace distal
