#include "tune/find_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "lower/compile.h"
#include "plan/cost.h"
#include "plan/memory.h"
#include "plan/plan.h"
#include "schedule/precompute.h"
#include "tune/search.h"

namespace distal::core {

namespace {

// On larger machines, plans are made for a smaller one.
constexpr int64_t kMostProcessors = 1024;
constexpr int64_t kSmallerProcessors = 256;

// The same machine with its longest dimensions shortened.
Machine shortened(Machine machine, const Bindings& params) {
  std::vector<IntExpr*> extents;
  for (Grid& level : machine.levels) {
    for (IntExpr& extent : level.extents) extents.push_back(&(extent = IntExpr(extent.evaluate(params))));
  }
  machine.is_free = false;
  auto shorter = [&](const IntExpr* a, const IntExpr* b) { return a->evaluate({}) < b->evaluate({}); };
  while (processor_count(machine).evaluate(params) > kSmallerProcessors) {
    IntExpr& longest = **std::max_element(extents.begin(), extents.end(), shorter);
    longest = IntExpr(longest.evaluate({}) / 2);
  }
  return machine;
}

// The program on the shortened machine, if it has only one.
std::optional<Module> on_shortened_machine(Module module, const Machine& machine, const Bindings& params) {
  const Machine smaller = shortened(machine, params);
  for (Machine& declared : module.machines) {
    if (declared != machine) return std::nullopt;
    declared = smaller;
  }
  for (Tensor& tensor : module.tensors) {
    if (!tensor.machine) continue;
    if (*tensor.machine != machine) return std::nullopt;
    tensor.machine = smaller;
  }
  return module;
}

// The tensors of a statement, and its workspaces that are declared tensors.
std::set<std::string> tensors_of(const Module& module, const ScheduledStatement& scheduled) {
  std::set<std::string> names;
  for (const Access& access : accesses(scheduled.statement)) names.insert(access.tensor);
  for (const Command& command : scheduled.schedule) {
    std::optional<Precompute> precompute = precompute_in(command);
    if (precompute && module.find_tensor(precompute->workspace.text)) names.insert(precompute->workspace.text);
  }
  return names;
}

// All ways to cut a tensor's dimensions by those of its machine. A level cuts a dimension once; a dimension of the
// machine that cuts nothing is a face.
class Formats {
 public:
  explicit Formats(const Tensor& tensor) {
    for (size_t d = 0; d < tensor.dimensions.size(); ++d) names_.push_back(fmt::format("x{}", d));
    for (const Grid& level : tensor.machine->levels) dimensions_.push_back(level.extents.size());
    Distribution distribution;
    add(distribution, 0);
  }

  const std::vector<Distribution>& all() const { return all_; }

 private:
  void add(Distribution& distribution, size_t level) {
    if (level == dimensions_.size()) return all_.push_back(distribution);
    distribution.levels.push_back({names_, {}, {}, {}});
    add_level(distribution, level);
    distribution.levels.pop_back();
  }

  void add_level(Distribution& distribution, size_t level) {
    auto roles = [&]() -> std::vector<MachineDimension>& { return distribution.levels[level].machine_dimensions; };
    if (roles().size() == dimensions_[level]) return add(distribution, level + 1);
    for (const std::string& name : names_) {
      MachineDimension cut{Partition{name}, {}};
      if (std::find(roles().begin(), roles().end(), cut) != roles().end()) continue;
      roles().push_back(cut);
      add_level(distribution, level);
      roles().pop_back();
    }
    roles().push_back({Fix{IntExpr(0)}, {}});
    add_level(distribution, level);
    roles().pop_back();
  }

  std::vector<std::string> names_;
  std::vector<size_t> dimensions_;  // by level of the machine
  std::vector<Distribution> all_;
};

// What a format of a tensor moves of it, and the largest memory that pieces need.
std::tuple<int64_t, int64_t> cost_of_format(const Module& module, const std::string& tensor, const Bindings& params) {
  Plan plan = make_plan(compile(module), params);
  std::vector<int64_t> home = home_bytes(plan);
  return {count_cost(plan).tensors.at(tensor).bytes, *std::max_element(home.begin(), home.end())};
}

// The machine of a free tensor of the statement, if it is too large to make a plan for every format.
const Machine* large_machine(const Module& module, const Bindings& params) {
  for (const std::string& name : tensors_of(module, module.statements[0])) {
    const Tensor* tensor = module.find_tensor(name);
    if (!has_free_format(*tensor)) continue;
    if (processor_count(*tensor->machine).evaluate(params) > kMostProcessors) return &*tensor->machine;
  }
  return nullptr;
}

std::string too_large() {
  return fmt::format(
      "its schedule is given, and on more than {} processors formats for it are found only if the program has one "
      "machine",
      kMostProcessors);
}

}  // namespace

bool leaves_formats_out(const Module& module, const ScheduledStatement& scheduled) {
  if (scheduled.schedule.empty()) return false;
  std::set<std::string> names = tensors_of(module, scheduled);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Tensor* tensor = module.find_tensor(name);
    return tensor != nullptr && has_free_format(*tensor);
  });
}

std::string find_formats(Module& module, const ScheduledStatement& scheduled, const Bindings& params,
                         Progress* progress) {
  Module one = module;
  one.statements = {scheduled};
  if (const Machine* large = large_machine(one, params)) {
    std::optional<Module> smaller = on_shortened_machine(one, *large, params);
    if (!smaller) return too_large();
    one = std::move(*smaller);
  }
  for (const std::string& name : tensors_of(module, scheduled)) {
    auto has_name = [&](const Tensor& tensor) { return tensor.name == name; };
    auto tensor = std::find_if(one.tensors.begin(), one.tensors.end(), has_name);
    if (!has_free_format(*tensor)) continue;
    std::optional<std::tuple<int64_t, int64_t>> least;
    Distribution best;
    const Formats formats(*tensor);
    for (const Distribution& format : formats.all()) {
      begin_candidate(progress);
      tensor->distribution = format;
      std::tuple<int64_t, int64_t> cost = cost_of_format(one, name, params);
      if (least && *least <= cost) continue;
      least = cost;
      best = format;
    }
    tensor->distribution = best;
  }
  for (size_t t = 0; t < module.tensors.size(); ++t) module.tensors[t].distribution = one.tensors[t].distribution;
  return {};
}

}  // namespace distal::core
