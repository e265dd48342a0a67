#pragma once

#include <algorithm>
#include <charconv>
#include <cstring>
#include <variant>

#include "check/number.h"
#include "check/reference.h"

namespace distal::core {

// One addend of the right side, which is split at the outermost + and -. The addend is summed over those of its
// variables that do not occur on the left side.
struct Addend {
  bool negated = false;
  Expr expr;
};
std::vector<Addend> split_addends(const Expr& expr);

// One operation of an expression in postfix order.
struct Step {
  enum class Kind { Read, Constant, Negate, Add, Subtract, Multiply };
  Kind kind;
  size_t operand = 0;  // the index of the read or of the constant
};

// A read of a tensor in an addend.
struct Read {
  std::string tensor;
  std::vector<size_t> variables;  // by dimension of the tensor: the number of the addend's variable
  std::vector<int64_t> offsets;   // by dimension of the tensor: what is added to that variable
  int depth = -1;                 // the innermost summed variable that the read depends on; -1: none
};

// An addend in postfix order, so that evaluation neither walks a tree nor looks up names. Its variables are those of
// the left side, then the summed ones, outermost first.
struct FlatAddend {
  bool negated = false;
  std::vector<Step> steps;
  std::vector<Read> reads;
  std::vector<Literal> constants;
  std::vector<int64_t> summed_extents;
  int64_t contributions = 1;
};

// Flattens an addend. `outer` has the variables of the left side, each once.
FlatAddend flatten(const Addend& addend, const std::vector<std::string>& outer,
                   const std::map<std::string, int64_t>& variable_extents);

template <class T>
Number<T> constant_of(const Literal& literal) {
  if constexpr (std::is_integral_v<T>) {
    int64_t value = 0;
    const char* end = literal.text.data() + literal.text.size();
    // Reads the text, because literal.value is a double, which is not exact beyond 2^53.
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
  AddendEvaluator(FlatAddend addend, size_t outer_count, const ElementReader& read, const DenseLookup& dense)
      : addend_(std::move(addend)),
        read_(read),
        outer_count_(outer_count),
        variables_(outer_count + addend_.summed_extents.size()),
        values_(addend_.reads.size()) {
    for (const Literal& literal : addend_.constants) constants_.push_back(constant_of<T>(literal));
    stack_.resize(addend_.steps.size());
    find_dense_product(dense);
  }

  int64_t contributions() const { return addend_.contributions; }

  Number<T> evaluate(const std::vector<int64_t>& outer) {
    std::copy(outer.begin(), outer.end(), variables_.begin());
    std::fill(variables_.begin() + static_cast<std::ptrdiff_t>(outer_count_), variables_.end(), 0);
    if (addend_.contributions == 0) return {};
    if (!dense_.empty()) return evaluate_dense_product();
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
  // A read of a tensor that is dense in memory.
  struct DenseRead {
    const T* data = nullptr;
    std::vector<int64_t> strides;  // by variable of the addend
  };

  // If the addend is a product of dense tensors, evaluate sums it in a plain loop.
  void find_dense_product(const DenseLookup& dense) {
    if (!dense || addend_.reads.empty() || addend_.summed_extents.empty()) return;
    for (const Step& step : addend_.steps) {
      if (step.kind != Step::Kind::Read && step.kind != Step::Kind::Multiply) return;
    }
    std::vector<DenseRead> found;
    for (const Step& step : addend_.steps) {
      if (step.kind != Step::Kind::Read) continue;
      const Read& read = addend_.reads[step.operand];
      std::optional<DenseTensor> tensor = dense(read.tensor);
      if (!tensor) return;
      DenseRead made{static_cast<const T*>(tensor->data), std::vector<int64_t>(variables_.size(), 0)};
      for (size_t d = 0; d < read.variables.size(); ++d) {
        made.strides[read.variables[d]] += tensor->strides[d];
        made.data += read.offsets[d] * tensor->strides[d];
      }
      found.push_back(std::move(made));
    }
    dense_ = std::move(found);
  }

  Number<T> evaluate_dense_product() {
    size_t last = variables_.size() - 1;
    int64_t extent = addend_.summed_extents.back();
    Number<T> sum;
    std::vector<const T*> from(dense_.size());
    do {
      for (size_t r = 0; r < dense_.size(); ++r) {
        from[r] = dense_[r].data;
        for (size_t v = 0; v < last; ++v) from[r] += variables_[v] * dense_[r].strides[v];
      }
      for (int64_t x = 0; x < extent; ++x) {
        Number<T> product = Number<T>::from(*from[0]);
        from[0] += dense_[0].strides[last];
        for (size_t r = 1; r < from.size(); ++r) {
          product = product * Number<T>::from(*from[r]);
          from[r] += dense_[r].strides[last];
        }
        sum = sum + product;
      }
    } while (advance_outside_last());
    return addend_.negated ? -sum : sum;
  }

  bool advance_outside_last() {
    for (size_t v = addend_.summed_extents.size() - 1; v-- > 0;) {
      if (++variables_[outer_count_ + v] < addend_.summed_extents[v]) return true;
      variables_[outer_count_ + v] = 0;
    }
    return false;
  }

  void refresh_reads(int changed) {
    for (size_t r = 0; r < values_.size(); ++r) {
      const Read& read = addend_.reads[r];
      if (read.depth < changed) continue;
      coordinates_.resize(read.variables.size());
      for (size_t d = 0; d < coordinates_.size(); ++d) {
        coordinates_[d] = variables_[read.variables[d]] + read.offsets[d];
      }
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

  // Moves to the next point of the sum. Returns the outermost variable that changed, or -1 after the last point.
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
  std::vector<DenseRead> dense_;  // empty: not a product of dense tensors
};

}  // namespace distal::core
