#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace distal {

namespace core {
class IntExpr;
}

// A number that a compiled kernel takes at run time. Copies are the same param.
class Param {
 public:
  explicit Param(int64_t value = 1);       // gets a name of its own
  Param(std::string name, int64_t value);  // with the name that Kernel::text() shows

  Param(const Param&) = default;                                          // the same param
  Param& operator=(const Param& other) { return *this = other.value(); }  // takes the value: gx = gy = 4 sets both

  // Gives it a new value; kernels made with it use that from their next run on.
  Param& operator=(int64_t value);
  int64_t value() const { return state_->value; }           // the current one
  const std::string& name() const { return state_->name; }  // as errors and Kernel::text() show it

  // What copies share; for the library.
  struct State {
    std::string name;  // of the param
    int64_t value;     // the current one
  };
  const std::shared_ptr<State>& state() const { return state_; }  // for the library

 private:
  std::shared_ptr<State> state_;
};

// An integer expression over params: what a size, a grid extent or a split size may be. Immutable; copies share.
class Int {
 public:
  Int(int64_t value);       // NOLINT: a number is an expression
  Int(int value);           // NOLINT: any integer
  Int(const Param& param);  // NOLINT: and so is a param

  int64_t value() const;          // under the current values of its params
  std::string to_string() const;  // as in a .distal file

  const core::IntExpr& expr() const { return *expr_; }                                  // for the library
  const std::vector<std::shared_ptr<Param::State>>& params() const { return params_; }  // for the library

 private:
  friend Int make_int(const core::IntExpr& expr, const Int& a, const Int& b);
  Int() = default;
  std::shared_ptr<const core::IntExpr> expr_;
  std::vector<std::shared_ptr<Param::State>> params_;  // all that stand in it
};

Int operator+(const Int& a, const Int& b);  // the sum
Int operator-(const Int& a, const Int& b);  // the difference
Int operator*(const Int& a, const Int& b);  // the product
Int operator/(const Int& a, const Int& b);  // the quotient, rounded down
Int ceildiv(const Int& a, const Int& b);    // the quotient, rounded up
Int min(const Int& a, const Int& b);        // the smaller one
Int max(const Int& a, const Int& b);        // the larger one

}  // namespace distal
