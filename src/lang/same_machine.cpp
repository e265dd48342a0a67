#include "lang/same_machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace distal::core {

bool surely_differ(const Machine& a, const Machine& b) {
  IntExpr x = processor_count(a), y = processor_count(b);
  return kind_of(a) != kind_of(b) || (x.is_constant() && y.is_constant() && x.value() != y.value());
}

bool differ(const Machine& a, const Machine& b, const Bindings& params) {
  return kind_of(a) != kind_of(b) || processor_count(a).evaluate(params) != processor_count(b).evaluate(params);
}

Machine with_values(Machine machine, const Bindings& params) {
  for (Grid& grid : machine.levels) {
    for (IntExpr& extent : grid.extents) extent = IntExpr(extent.evaluate(params));
  }
  if (machine.processors) machine.processors = IntExpr(machine.processors->evaluate(params));
  return machine;
}

void refuse_two_machines(const std::string& a, const Machine& on_a, const std::string& b, const Machine& on_b,
                         const SourceSpan& span) {
  throw Error(
      fmt::format("{} is on {}, but {} is on {}", a, described(on_a), b, described(on_b)), span,
      "the machines of one statement have equally many processors, of one kind; only a copy, as in `A(i) = B(i)`, goes "
      "between others");
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

void refuse_too_large_grid(const Machine& machine, const std::vector<int64_t>& extents, const Bindings& params) {
  int64_t have = machine.processors->evaluate(params), need = 1;
  for (int64_t extent : extents) need *= extent;
  if (need <= have) return;
  throw Error(fmt::format("{} has {} processors, but its grid needs {}", described(machine), have, need), machine.span,
              "a grid may use all processors of its machine, or fewer");
}

std::string described(const Machine& machine) {
  return machine.name.empty() ? to_string(machine) : fmt::format("{} = {}", machine.name, to_string(machine));
}

}  // namespace distal::core
