#include "lang/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lang/check_parts.h"
#include "lang/ranges.h"
#include "lang/same_machine.h"
#include "support/checked.h"

namespace distal::core {

namespace {

// Counts up to this fit in 64 bits with room for the small factors that the compiler multiplies them with.
constexpr Int128 kLargestCount = Int128{1} << 62;
constexpr Int128 kLargestPointCount = Int128{1} << 100;

// The product of factors that are at least 0, or nothing when it is beyond the limit.
std::optional<Int128> product(const std::vector<int64_t>& factors, Int128 limit) {
  if (std::find(factors.begin(), factors.end(), 0) != factors.end()) return 0;
  Int128 out = 1;
  for (int64_t f : factors) {
    if (f > limit / out) return std::nullopt;
    out *= f;
  }
  return out;
}

std::string joined(const std::vector<int64_t>& numbers) {
  std::string out;
  for (int64_t n : numbers) out += (out.empty() ? "" : " x ") + std::to_string(n);
  return out;
}

class Validator {
 public:
  Validator(const Module& module, const Bindings& params) : module_(module), params_(params) {}

  void run() const {
    for (const Machine& machine : module_.machines) check_machine(machine);
    for (const Tensor& tensor : module_.tensors) check_tensor(tensor);
    for (const ScheduledStatement& scheduled : module_.statements) {
      check_statement(scheduled.statement);
      check_machines(scheduled);
      for (const Command& command : scheduled.schedule) check_command(command);
    }
  }

 private:
  int64_t at_least(int64_t least, const IntExpr& expr, const std::string& what, const SourceSpan& otherwise) const {
    int64_t value = expr.evaluate(params_);
    require_at_least(least, expr, value, what, otherwise);
    return value;
  }

  int64_t positive(const IntExpr& expr, const std::string& what, const SourceSpan& otherwise) const {
    return at_least(1, expr, what, otherwise);
  }

  std::vector<int64_t> extents(const Grid& grid) const {
    std::vector<int64_t> out;
    for (const IntExpr& extent : grid.extents) {
      out.push_back(positive(extent, fmt::format("extent {} of the grid", out.size()), grid.span));
    }
    return out;
  }

  void check_machine(const Machine& machine) const {
    if (machine.processors) {
      int64_t count = positive(*machine.processors, "the number of processors", machine.span);
      refuse_too_many_processors(machine, {count});
    }
    std::vector<int64_t> all;
    for (const Grid& grid : machine.levels) {
      for (int64_t extent : extents(grid)) all.push_back(extent);
    }
    refuse_too_many_processors(machine, all);
    if (machine.processors) refuse_too_large_grid(machine, all, params_);
  }

  void check_tensor(const Tensor& tensor) const {
    if (tensor.machine) check_machine(*tensor.machine);
    check_size(tensor);
    if (!tensor.distribution) return;
    for (size_t level = 0; level < tensor.distribution->levels.size(); ++level) {
      const LevelDistribution& distribution = tensor.distribution->levels[level];
      check_faces(tensor, distribution, extents(tensor.machine->levels[level]));
      for (const auto& [name, block] : distribution.cyclic) {
        positive(block, fmt::format("the cyclic block of `{}`", name), distribution.span);
      }
    }
  }

  void check_size(const Tensor& tensor) const {
    std::vector<int64_t> sizes;
    for (const IntExpr& dimension : tensor.dimensions) {
      sizes.push_back(
          at_least(0, dimension, fmt::format("dimension {} of {}", sizes.size(), tensor.name), tensor.span));
    }
    int64_t bytes = size_of(module_.type);
    if (product(sizes, kLargestCount / bytes)) return;
    throw Error(fmt::format("{} has {} elements of {} bytes: too many", tensor.name, joined(sizes), bytes), tensor.span,
                "a tensor may have up to 2^62 bytes");
  }

  void check_faces(const Tensor& tensor, const LevelDistribution& level, const std::vector<int64_t>& grid) const {
    for (size_t d = 0; d < level.machine_dimensions.size(); ++d) {
      const MachineDimension& dimension = level.machine_dimensions[d];
      const auto* fix = std::get_if<Fix>(&dimension.role);
      if (fix == nullptr) continue;
      int64_t face = fix->face.evaluate(params_);
      if (face >= 0 && face < grid[d]) continue;
      throw Error(fmt::format("face {} of {} is outside machine dimension {}, which has extent {}",
                              with_value(fix->face, face), tensor.name, d, grid[d]),
                  dimension.span,
                  grid[d] == 1 ? "the only face is 0" : fmt::format("the faces are 0 to {}", grid[d] - 1));
    }
  }

  void check_statement(const Statement& statement) const {
    check_ranges(module_, statement, params_);
    check_points(statement);
    check_literals(statement.rhs);
  }

  // The tensors, and the machine that the schedule distributes onto, have the same processors.
  void check_machines(const ScheduledStatement& scheduled) const {
    if (is_copy(scheduled.statement)) return;
    const Tensor* first = nullptr;
    auto require_same = [&](const std::string& name, const Machine& machine, const SourceSpan& span) {
      if (first == nullptr || !differ(*first->machine, machine, params_)) return;
      refuse_two_machines(first->name, with_values(*first->machine, params_), name, with_values(machine, params_),
                          span);
    };
    for (const Access& access : accesses(scheduled.statement)) {
      const Tensor& tensor = *module_.find_tensor(access.tensor);
      if (!tensor.machine) continue;
      if (first == nullptr) first = &tensor;
      require_same(tensor.name, *tensor.machine, access.span);
    }
    for (const Command& command : scheduled.schedule) {
      const GridRef* onto = onto_of(command);
      const Machine* machine = onto == nullptr ? nullptr : module_.find_machine(onto->name.text);
      if (machine != nullptr) require_same("the schedule", *machine, onto->span);
    }
  }

  // Each term has points of its own: those of the left side's indices and of its own.
  void check_points(const Statement& statement) const {
    std::map<std::string, IntExpr> extents = variable_extents(module_, statement);
    for (const Term& term : additive_terms(statement.rhs)) {
      std::vector<int64_t> sizes;
      for (const IndexVar& v : variables({statement.lhs, statement.op, term.expr, {}})) {
        sizes.push_back(extents.at(v.name).evaluate(params_));
      }
      if (product(sizes, kLargestPointCount)) continue;
      throw Error(fmt::format("{} has {} points: too many", to_string(term.expr), joined(sizes)), statement.span,
                  "a term may have up to 2^100 points");
    }
  }

  void check_literals(const Expr& expr) const {
    fold(expr,
         Overloaded{[](const Access&) {}, [&](const Literal& literal) { check_literal(literal); },
                    [&](const ParamUse& param) { check_param(param); }, [](const Negate&) {}, [](const Binary&) {}});
  }

  void check_param(const ParamUse& param) const {
    int64_t value = params_.at(param.name);
    if (std::abs(static_cast<double>(value)) <= traits_of(module_.type).largest_literal) return;
    throw Error(fmt::format("the param {} is {}, which is too large for the element type {}", param.name, value,
                            to_string(module_.type)),
                param.span);
  }

  void check_literal(const Literal& literal) const {
    std::string text = to_string(Expr(literal));
    bool whole = literal.integral;
    if (is_integer(module_.type) && !whole) {
      throw Error(
          fmt::format("the literal {} is not an integer, but the element type is {}", text, to_string(module_.type)),
          literal.span, "write it without a point and an exponent, or choose a floating-point `type`");
    }
    double largest = traits_of(module_.type).largest_literal;
    if (std::abs(literal.value) <= largest) return;
    throw Error(fmt::format("the literal {} is too large for the element type {}", text, to_string(module_.type)),
                literal.span, fmt::format("the largest is {}", largest));
  }

  void check_command(const Command& command) const {
    const GridRef* onto = onto_of(command);
    if (onto != nullptr && onto->grid) check_machine({"", {*onto->grid}, onto->span});
  }

  const Module& module_;
  const Bindings& params_;
};

}  // namespace

void validate(const Module& module, const Bindings& params) { Validator(module, params).run(); }

}  // namespace distal::core
