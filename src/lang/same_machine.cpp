#include "lang/same_machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace distal::core {

namespace {

template <class Differ>
bool any_difference(const Machine& a, const Machine& b, Differ extents_differ) {
  if (a.levels.size() != b.levels.size()) return true;
  for (size_t level = 0; level < a.levels.size(); ++level) {
    const Grid& x = a.levels[level];
    const Grid& y = b.levels[level];
    if (x.processor != y.processor || x.extents.size() != y.extents.size()) return true;
    for (size_t d = 0; d < x.extents.size(); ++d) {
      if (extents_differ(x.extents[d], y.extents[d])) return true;
    }
  }
  return false;
}

}  // namespace

bool surely_differ(const Machine& a, const Machine& b) {
  return any_difference(a, b, [](const IntExpr& x, const IntExpr& y) {
    return x.is_constant() && y.is_constant() && x.value() != y.value();
  });
}

bool differ(const Machine& a, const Machine& b, const Bindings& params) {
  return any_difference(a, b,
                        [&](const IntExpr& x, const IntExpr& y) { return x.evaluate(params) != y.evaluate(params); });
}

Machine with_values(Machine machine, const Bindings& params) {
  for (Grid& grid : machine.levels) {
    for (IntExpr& extent : grid.extents) extent = IntExpr(extent.evaluate(params));
  }
  return machine;
}

void refuse_two_machines(const std::string& a, const Machine& on_a, const std::string& b, const Machine& on_b,
                         const SourceSpan& span) {
  throw Error(
      fmt::format("{} is on {}, but {} is on {}", a, described(on_a), b, described(on_b)), span,
      "all tensors of one statement must be on the same machine; only a copy, as in `A(i) = B(i)`, goes from one "
      "to another");
}

void refuse_too_many_processors(const Machine& machine, const std::vector<int64_t>& extents) {
  int64_t processors = 1;
  for (int64_t extent : extents) {
    if (extent > kMaxProcessors / processors) {
      throw Error(fmt::format("the machine {} has {} processors", described(machine), fmt::join(extents, " x ")),
                  machine.span, fmt::format("a machine may have up to {} processors", kMaxProcessors));
    }
    processors *= extent;
  }
}

std::string described(const Machine& machine) {
  return machine.name.empty() ? to_string(machine) : fmt::format("{} = {}", machine.name, to_string(machine));
}

}  // namespace distal::core
