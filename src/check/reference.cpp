#include "check/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "check/evaluate.h"
#include "check/sample.h"

namespace distal::core {

namespace {

template <class T>
std::string value_text(T value) {
  if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
    return fmt::format("{}", value);
  } else {
    return fmt::format("{}{:+}i", value.real(), value.imag());
  }
}

// Evaluates a statement for any element of its output.
template <class T>
class Reference {
 public:
  Reference(const Statement& statement, const std::map<std::string, int64_t>& extents, const ElementReader& before,
            const DenseLookup& dense, const std::vector<int64_t>& output_shape)
      : output_(statement.lhs),
        accumulates_(statement.op != AssignOp::Assign),
        subtracts_(statement.op == AssignOp::Subtract),
        before_(before) {
    for (size_t d = 0; d < output_.indices.size(); ++d) {
      const IndexVar& index = output_.indices[d];
      auto extent = extents.find(index.name);
      if (extent == extents.end()) throw InternalError("the reference has no extent for '" + index.name + "'");
      offsets_.push_back(output_.offset(d).evaluate({}));
      range_.push_back(extent->second);
      shape_.push_back(output_shape.empty() ? extent->second : output_shape[d]);
      auto found = std::find(outer_.begin(), outer_.end(), index.name);
      variable_of_dimension_.push_back(static_cast<size_t>(found - outer_.begin()));
      if (found == outer_.end()) outer_.push_back(index.name);
    }
    for (const Addend& addend : split_addends(statement.rhs)) {
      addends_.emplace_back(flatten(addend, outer_, extents), outer_.size(), before, dense);
      contributions_ += addends_.back().contributions();
    }
    if (accumulates_) ++contributions_;
  }

  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t contributions() const { return contributions_; }

  Number<T> element(const std::vector<int64_t>& coordinates) {
    Number<T> value = accumulates_ ? Number<T>::from(read(before_, coordinates)) : Number<T>{};
    if (!bind_variables(coordinates)) return value;
    for (AddendEvaluator<T>& addend : addends_) {
      Number<T> term = addend.evaluate(variables_);
      value = value + (subtracts_ ? -term : term);
    }
    return value;
  }

  T read(const ElementReader& reader, const std::vector<int64_t>& coordinates) const {
    T value;
    std::memcpy(&value, reader(output_.tensor, coordinates), sizeof(T));
    return value;
  }

 private:
  // Returns false if the statement does not reach this element: a repeated index of the left side would need two
  // values, or a shifted one a value outside of its range.
  bool bind_variables(const std::vector<int64_t>& coordinates) {
    variables_.assign(outer_.size(), -1);
    for (size_t d = 0; d < coordinates.size(); ++d) {
      int64_t& variable = variables_[variable_of_dimension_[d]];
      int64_t value = coordinates[d] - offsets_[d];
      if (value < 0 || value >= range_[d] || (variable >= 0 && variable != value)) return false;
      variable = value;
    }
    return true;
  }

  Access output_;
  bool accumulates_, subtracts_;
  const ElementReader& before_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> range_, offsets_;  // by dimension: the extent of its index, and what is added to it
  std::vector<std::string> outer_;
  std::vector<size_t> variable_of_dimension_;
  std::vector<AddendEvaluator<T>> addends_;
  std::vector<int64_t> variables_;
  int64_t contributions_ = 0;
};

template <class T>
CheckResult check(const Statement& statement, const std::map<std::string, int64_t>& extents,
                  const ElementReader& before, const ElementReader& after, int64_t max_samples, uint64_t seed,
                  const DenseLookup& dense, const std::vector<int64_t>& output_shape) {
  Reference<T> reference(statement, extents, before, dense, output_shape);
  double allowed = tolerance<T>(reference.contributions());
  CheckResult result;
  std::vector<int64_t> coordinates;
  for_each_position(statement.lhs, reference.shape(), max_samples, seed, [&](int64_t position) {
    position_to_coordinates(position, reference.shape(), coordinates);
    if (!after(statement.lhs.tensor, coordinates)) return;
    Number<T> want = reference.element(coordinates);
    T got = reference.read(after, coordinates);
    double error = relative_error(got, want);
    ++result.checked;
    result.max_relative_error = std::max(result.max_relative_error, error);
    if (!(error <= allowed) && result.ok) {
      result.ok = false;
      result.first_wrong =
          fmt::format("{}({}) is {}, expected {} (relative error {:.3g}, allowed {:.3g})", statement.lhs.tensor,
                      fmt::join(coordinates, ", "), value_text(got), value_text(want.rounded()), error, allowed);
    }
  });
  return result;
}

template <class T>
std::vector<std::byte> evaluate(const Statement& statement, const std::map<std::string, int64_t>& extents,
                                const ElementReader& before, const std::vector<int64_t>& output_shape) {
  Reference<T> reference(statement, extents, before, {}, output_shape);
  std::vector<std::byte> output;
  std::vector<int64_t> coordinates;
  for_each_position(statement.lhs, reference.shape(), 0, 0, [&](int64_t position) {
    position_to_coordinates(position, reference.shape(), coordinates);
    T value = reference.element(coordinates).rounded();
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    output.insert(output.end(), bytes, bytes + sizeof(T));
  });
  return output;
}

}  // namespace

CheckResult check_statement(const Statement& statement, ElementType type,
                            const std::map<std::string, int64_t>& variable_extents, const ElementReader& before,
                            const ElementReader& after, int64_t max_samples, uint64_t seed, const DenseLookup& dense,
                            const std::vector<int64_t>& output_shape) {
  return with_element_type(type, [&](auto zero) {
    return check<decltype(zero)>(statement, variable_extents, before, after, max_samples, seed, dense, output_shape);
  });
}

std::vector<std::byte> evaluate_statement(const Statement& statement, ElementType type,
                                          const std::map<std::string, int64_t>& variable_extents,
                                          const ElementReader& before, const std::vector<int64_t>& output_shape) {
  return with_element_type(
      type, [&](auto zero) { return evaluate<decltype(zero)>(statement, variable_extents, before, output_shape); });
}

}  // namespace distal::core
