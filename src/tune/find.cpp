#include "tune/find.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "lang/ranges.h"
#include "tune/find_formats.h"
#include "tune/find_grid.h"
#include "tune/find_parts.h"

namespace distal::core {

namespace {

class Finder {
 public:
  Finder(const Module& module, const Bindings& params, const FindOptions& options)
      : module_(module), params_(params), given_(options), options_(options) {}

  // A format that is found for a later statement may give some processor more than an even share of a tensor. The
  // search then begins again with less memory, so that earlier statements leave room for it.
  FoundProgram find() {
    constexpr int kMostRounds = 8;
    for (int round = 0;; ++round) {
      find_all();
      if (!given_.memory_bytes) return std::move(found_);
      int64_t over = memory_of(found_.module, params_, found_.statements) - *given_.memory_bytes;
      if (over <= 0) return std::move(found_);
      if (round == kMostRounds) throw DoesNotFit(*given_.memory_bytes + over, *given_.memory_bytes);
      *options_.memory_bytes -= over;
    }
  }

 private:
  void find_all() {
    found_ = {module_, {}, {}};
    for (const ScheduledStatement& scheduled : module_.statements) {
      if (machine_without_grid(found_.module, scheduled)) find_grid(found_.module, scheduled, params_, options_);
    }
    for (size_t at = 0; at < found_.module.statements.size(); ++at) {
      const ScheduledStatement& scheduled = found_.module.statements[at];
      bool needs_formats = leaves_formats_out(found_.module, scheduled);
      if (!has_no_schedule(scheduled) && !needs_formats) continue;
      std::string reason =
          needs_formats ? find_formats(found_.module, scheduled, params_, options_.progress) : find_for(at);
      if (reason.empty()) continue;
      found_.left.push_back(fmt::format("{}: {}", to_string(found_.module.statements[at].statement), reason));
    }
  }

  // Returns why nothing was found; empty if something was.
  std::string find_for(size_t at) {
    const Statement statement = found_.module.statements[at].statement;
    std::vector<std::string> empty = empty_indices(found_.module, statement, params_);
    if (!empty.empty()) return fmt::format("index {} has no values", empty.front());
    std::optional<Machine> machine = machine_for(statement);
    if (machine && machine->name.empty()) machine = declared(*machine);
    std::vector<Split> splits = splits_of(found_.module, statement, params_, machine);
    if (!machine && splits.size() == 1) return "the program has no machine";
    FoundParts best = best_of(statement, splits, machine);
    if (!machine && best.parts.size() == 1) return "the program has no machine";
    keep(std::move(best), at);
    return {};
  }

  // The best of all splits.
  FoundParts best_of(const Statement& statement, const std::vector<Split>& splits,
                     const std::optional<Machine>& machine) const {
    std::vector<FoundParts> all;
    std::optional<DoesNotFit> refusal;
    for (const Split& split : splits) {
      size_t grids = machine && machine->is_free ? split.workspaces.size() + 1 : 1;
      for (size_t part = 0; part < grids; ++part) {
        try {
          all.push_back(find_parts(found_.module, statement, split, machine, params_, options_, part));
        } catch (const DoesNotFit& too_large) {
          if (!refusal || too_large.least_bytes() < refusal->least_bytes()) refusal = too_large;
        }
      }
    }
    if (!all.empty()) return options_.goal == Goal::Bytes ? least_bytes(all) : least_time(all);
    int64_t room = *given_.memory_bytes - *options_.memory_bytes;
    throw DoesNotFit(refusal->least_bytes() + room, *given_.memory_bytes);
  }

  static FoundParts least_bytes(const std::vector<FoundParts>& all) {
    return least(all, [](const FoundParts& found) {
      return std::tuple(found.exchanged_bytes(), found.parts.size(), found.bytes_moved(), found.seconds());
    });
  }

  // Among those that need hardly more than the least time, the one that reads and writes least.
  static FoundParts least_time(const std::vector<FoundParts>& all) {
    constexpr double kNear = 1.1;
    double seconds = least(all, [](const FoundParts& found) { return found.seconds(); }).seconds();
    return least(all, [&](const FoundParts& found) {
      bool is_near = found.seconds() <= kNear * seconds;
      return std::tuple(!is_near, is_near ? found.elements : 0, found.seconds(), found.exchanged_bytes());
    });
  }

  // The first one with the least key.
  template <class Key>
  static FoundParts least(const std::vector<FoundParts>& all, const Key& key) {
    return *std::min_element(all.begin(), all.end(),
                             [&](const FoundParts& a, const FoundParts& b) { return key(a) < key(b); });
  }

  void keep(FoundParts found, size_t at) {
    found_.module = std::move(found.module);
    ScheduledStatement& scheduled = found_.module.statements[at];
    scheduled.schedule = std::move(found.schedule);
    scheduled.has_empty_schedule = scheduled.schedule.empty();
    for (FoundStatement& part : found.parts) found_.statements.push_back(std::move(part));
  }

  // The machine of the output, else of the first operand that has one, else the only one declared. The found schedule
  // must name it. So a grid in place is replaced by the first declared machine with as many processors.
  std::optional<Machine> machine_for(const Statement& statement) const {
    std::vector<Access> all = accesses(statement.rhs);
    all.insert(all.begin(), statement.lhs);
    for (const Access& access : all) {
      const Tensor* tensor = found_.module.find_tensor(access.tensor);
      if (tensor->machine) return with_name(*tensor->machine);
    }
    if (found_.module.machines.size() == 1) return found_.module.machines[0];
    return std::nullopt;
  }

  // Declares a machine that is written in place only. Its tensors without a format are on it from then on.
  Machine declared(Machine machine) {
    const Machine in_place = machine;
    auto is_taken = [&](const std::string& name) {
      auto has_name = [&](const auto& item) { return item.name == name; };
      const Module& module = found_.module;
      return module.find_tensor(name) != nullptr || module.find_machine(name) != nullptr ||
             std::any_of(module.params.begin(), module.params.end(), has_name);
    };
    machine.name = "M";
    for (int n = 1; is_taken(machine.name); ++n) machine.name = fmt::format("M{}", n);
    found_.module.machines.push_back(machine);
    for (Tensor& tensor : found_.module.tensors) {
      if (has_free_format(tensor) && tensor.machine == in_place) tensor.machine = machine;
    }
    return machine;
  }

  Machine with_name(const Machine& machine) const {
    if (!machine.name.empty()) return machine;
    int64_t processors = processor_count(machine).evaluate(params_);
    for (const Machine& declared : found_.module.machines) {
      bool is_like = processor_count(declared).evaluate(params_) == processors && kind_of(declared) == kind_of(machine);
      if (is_like) return declared;
    }
    return machine;
  }

  const Module& module_;
  const Bindings& params_;
  const FindOptions& given_;
  FindOptions options_;  // with less memory, if that leaves room for what is found later
  FoundProgram found_;
};

// What was found, or how much memory a processor needs at least.
struct Attempt {
  std::optional<FoundProgram> found;
  int64_t least_bytes = 0;
};

Attempt find_within(const Module& module, const Bindings& params, const FindOptions& options) {
  try {
    return {Finder(module, params, options).find(), 0};
  } catch (const DoesNotFit& refusal) {
    return {std::nullopt, refusal.least_bytes()};
  }
}

}  // namespace

bool has_no_schedule(const ScheduledStatement& scheduled) {
  return scheduled.schedule.empty() && !scheduled.has_empty_schedule;
}

bool leaves_something_out(const Module& module) {
  return std::any_of(module.statements.begin(), module.statements.end(), [&](const ScheduledStatement& scheduled) {
    return has_no_schedule(scheduled) || leaves_formats_out(module, scheduled) ||
           machine_without_grid(module, scheduled);
  });
}

FoundProgram find_what_is_left_out(const Module& module, const Bindings& params, const FindOptions& options) {
  Attempt attempt = find_within(module, params, options);
  if (attempt.found) return std::move(*attempt.found);
  // The least memory of one statement may be too little for another one, so larger ones are tried.
  constexpr int64_t kFinestSteps = 1000;
  FindOptions more = options;
  int64_t least = 0;
  while (!attempt.found) {
    least = std::max(least + 1 + least / kFinestSteps, attempt.least_bytes);
    more.memory_bytes = least;
    attempt = find_within(module, params, more);
  }
  throw DoesNotFit(least, *options.memory_bytes);
}

}  // namespace distal::core
