#include <fmt/format.h>

#include <algorithm>

#include "lang/check.h"
#include "lang/check_parts.h"
#include "lang/same_machine.h"
#include "lang/suggest.h"

namespace distal::core {

namespace {

std::vector<std::string> machine_names(const Module& scope) {
  std::vector<std::string> names;
  for (const Machine& machine : scope.machines) names.push_back(machine.name);
  return names;
}

[[noreturn]] void refuse_unknown_machine(const Machine& machine, const Module& scope) {
  std::vector<std::string> known = machine_names(scope);
  std::string help = known.empty() ? "no machine is declared before this; write for instance `machine M = Grid(2, 2)`"
                                   : fmt::format("the machines declared before this are {}", listing(known));
  throw Error(fmt::format("unknown machine `{}`", machine.name), machine.span,
              help + did_you_mean(machine.name, known));
}

SourceSpan distribution_span(const Tensor& tensor) {
  const std::vector<LevelDistribution>& levels = tensor.distribution->levels;
  return levels.empty() ? tensor.span : levels[0].span;
}

[[noreturn]] void refuse_no_machine(const Tensor& tensor, const Module& scope) {
  throw Error(fmt::format("{} has a distribution but no machine", tensor.name), distribution_span(tensor),
              scope.machines.empty()
                  ? "declare one, as in `machine M = Grid(2, 2)`, or write `on Grid(2, 2)`"
                  : fmt::format("say which with `on`: the machines are {}", listing(machine_names(scope))));
}

void check_order(const Tensor& tensor) {
  size_t n = tensor.dimensions.size();
  std::vector<int> sorted = tensor.order;
  std::sort(sorted.begin(), sorted.end());
  bool permutation = sorted.size() == n;
  for (size_t d = 0; d < n && permutation; ++d) permutation = sorted[d] == static_cast<int>(d);
  if (permutation) return;
  throw Error(
      fmt::format("the order of {} is not a permutation of its {} dimension{}", tensor.name, n, n == 1 ? "" : "s"),
      tensor.order_span,
      n == 0 ? "a scalar has no storage order"
             : fmt::format("name each of the dimensions 0 to {} once, outermost first", n - 1));
}

void check_level_count(const Tensor& tensor) {
  size_t have = tensor.distribution->levels.size(), want = tensor.machine->levels.size();
  if (have == want) return;
  throw Error(fmt::format("{} has {} distribution{}, but its machine {} has {} level{}", tensor.name, have,
                          have == 1 ? "" : "s", described(*tensor.machine), want, want == 1 ? "" : "s"),
              distribution_span(tensor),
              !is_in_text(distribution_span(tensor)) ? "give one list of roles for each level of the machine"
              : want == 1                            ? "write one distribution, as in `xy -> xy`"
                          : "write one distribution per level, with commas between, as in `xy -> xy, xy -> x`");
}

}  // namespace

void check_format(const Tensor& tensor, const Module& scope) {
  for (size_t d = 0; d < tensor.dimensions.size(); ++d) {
    check_size(tensor.dimensions[d], scope, fmt::format("dimension {} of {}", d, tensor.name), tensor.span, 0);
  }
  check_order(tensor);
  if (tensor.machine && !tensor.machine->name.empty() && !scope.find_machine(tensor.machine->name)) {
    refuse_unknown_machine(*tensor.machine, scope);
  }
  if (tensor.machine) check_levels(*tensor.machine, scope);
  if (!tensor.distribution) return;
  if (!tensor.machine) refuse_no_machine(tensor, scope);
  check_level_count(tensor);
  for (size_t level = 0; level < tensor.distribution->levels.size(); ++level) {
    check_level(tensor.distribution->levels[level], {tensor.name, tensor.dimensions.size()}, *tensor.machine, level,
                scope);
  }
}

}  // namespace distal::core
