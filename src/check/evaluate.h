#pragma once

#include <algorithm>
#include <charconv>
#include <cstring>
#include <variant>

#include "check/number.h"
#include "check/reference.h"

namespace distal {

// One addend of the right side, cut at the outermost + and -, with its own sum: the variables that stand in it but
// not on the left side.
struct Addend {
  bool negated = false;
  const Expr* expr = nullptr;
};
std::vector<Addend> split_addends(const Expr& expr);

// One step of an expression in postfix order.
struct Step {
  enum class Kind { Read, Constant, Negate, Add, Subtract, Multiply };
  Kind kind;
  size_t operand = 0;  // which read or which constant
};

// A read of a tensor: where its coordinates stand among the values of the addend's variables.
struct Read {
  std::string tensor;
  std::vector<size_t> variables;
  int depth = -1;  // the innermost summed variable it depends on; -1: none
};

// An addend made flat, so that its inner loop neither walks a tree nor looks up names. Its variables are the left
// side's, then those that are summed, outermost first.
struct FlatAddend {
  bool negated = false;
  std::vector<Step> steps;
  std::vector<Read> reads;
  std::vector<Literal> constants;
  std::vector<int64_t> summed_extents;
  int64_t contributions = 1;
};

// `outer` are the variables of the left side, each once.
FlatAddend flatten(const Addend& addend, const std::vector<std::string>& outer,
                   const std::map<std::string, int64_t>& variable_extents);

template <class T>
Number<T> constant_of(const Literal& literal) {
  if constexpr (std::is_integral_v<T>) {
    int64_t value = 0;
    const char* end = literal.text.data() + literal.text.size();
    // The text is exact where a double is not, beyond 2^53.
    auto [after, status] = std::from_chars(literal.text.data(), end, value);
    if (status != std::errc{} || after != end) value = static_cast<int64_t>(literal.value);
    return Number<T>::from(static_cast<T>(value));
  } else {
    Number<T> number;
    if constexpr (std::is_floating_point_v<T>) {
      number.value = literal.value;
    } else {
      number.re = literal.value;
    }
    number.magnitude = std::abs(static_cast<long double>(literal.value));
    return number;
  }
}

// Computes one addend for one element of the output.
template <class T>
class AddendEvaluator {
 public:
  AddendEvaluator(FlatAddend addend, size_t outer_count, const ElementReader& read)
      : addend_(std::move(addend)),
        read_(read),
        outer_count_(outer_count),
        variables_(outer_count + addend_.summed_extents.size()),
        values_(addend_.reads.size()) {
    for (const Literal& literal : addend_.constants) constants_.push_back(constant_of<T>(literal));
    stack_.resize(addend_.steps.size());
  }

  int64_t contributions() const { return addend_.contributions; }

  Number<T> evaluate(const std::vector<int64_t>& outer) {
    std::copy(outer.begin(), outer.end(), variables_.begin());
    std::fill(variables_.begin() + static_cast<std::ptrdiff_t>(outer_count_), variables_.end(), 0);
    if (addend_.contributions == 0) return {};
    Number<T> sum;
    int changed = -1;  // the outermost summed variable that changed since the last point
    do {
      refresh_reads(changed);
      sum = sum + evaluate_point();
      changed = advance();
    } while (changed >= 0);
    return addend_.negated ? -sum : sum;
  }

 private:
  void refresh_reads(int changed) {
    for (size_t r = 0; r < values_.size(); ++r) {
      const Read& read = addend_.reads[r];
      if (read.depth < changed) continue;
      coordinates_.resize(read.variables.size());
      for (size_t d = 0; d < coordinates_.size(); ++d) coordinates_[d] = variables_[read.variables[d]];
      T value;
      std::memcpy(&value, read_(read.tensor, coordinates_), sizeof(T));
      values_[r] = Number<T>::from(value);
    }
  }

  Number<T> evaluate_point() {
    size_t top = 0;
    for (const Step& step : addend_.steps) {
      switch (step.kind) {
        case Step::Kind::Read: stack_[top++] = values_[step.operand]; break;
        case Step::Kind::Constant: stack_[top++] = constants_[step.operand]; break;
        case Step::Kind::Negate: stack_[top - 1] = -stack_[top - 1]; break;
        case Step::Kind::Add: --top, stack_[top - 1] = stack_[top - 1] + stack_[top]; break;
        case Step::Kind::Subtract: --top, stack_[top - 1] = stack_[top - 1] + -stack_[top]; break;
        case Step::Kind::Multiply: --top, stack_[top - 1] = stack_[top - 1] * stack_[top]; break;
      }
    }
    return stack_[0];
  }

  // The next point of the sum; -1 when there is none, else the outermost variable that changed.
  int advance() {
    for (size_t v = addend_.summed_extents.size(); v-- > 0;) {
      if (++variables_[outer_count_ + v] < addend_.summed_extents[v]) return static_cast<int>(v);
      variables_[outer_count_ + v] = 0;
    }
    return -1;
  }

  FlatAddend addend_;
  const ElementReader& read_;
  size_t outer_count_;
  std::vector<int64_t> variables_;
  std::vector<int64_t> coordinates_;
  std::vector<Number<T>> values_;
  std::vector<Number<T>> constants_;
  std::vector<Number<T>> stack_;
};

}  // namespace distal
