#include "tune/find.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/ownership.h"
#include "tune/statement_shape.h"
#include "tune/write_candidate.h"

namespace distal::core {

namespace {

// What every processor owns of a tensor. Processors are numbered row by row.
std::shared_ptr<const GivenPieces> pieces_of(const Tensor& tensor, const Bindings& params, int64_t processors) {
  Ownership owners(tensor, params);
  auto pieces = std::make_shared<GivenPieces>();
  double elements = 0;
  for (int64_t p = 0; p < processors; ++p) {
    bool owns = p < owners.machine().processors && owners.owns_any(p);
    std::vector<std::vector<Run>>& runs = pieces->runs.emplace_back(tensor.dimensions.size());
    pieces->owns_scalar.push_back(owns);
    if (!owns) continue;
    HomePiece piece = owners.piece_of(p);
    for (size_t d = 0; d < runs.size(); ++d) runs[d] = *piece.runs[d];
    elements += static_cast<double>(piece.volume());
  }
  pieces->average_elements = elements / static_cast<double>(processors);
  return pieces;
}

std::vector<GridLevel> grid_of(const MachineShape& machine) {
  std::vector<GridLevel> grid;
  for (size_t d = 0; d < machine.extents.size(); ++d)
    grid.push_back({kNoIndex, machine.extents[d], 1, machine.level[d]});
  return grid;
}

class Finder {
 public:
  Finder(const Module& module, const Bindings& params, const FindOptions& options)
      : params_(params), options_(options), found_{module, {}, {}} {}

  FoundProgram find() {
    for (ScheduledStatement& scheduled : found_.module.statements) {
      if (!has_no_schedule(scheduled)) continue;
      std::string reason = find_for(scheduled);
      if (!reason.empty()) found_.left.push_back(fmt::format("{}: {}", to_string(scheduled.statement), reason));
    }
    return std::move(found_);
  }

 private:
  // Returns why nothing was found, or nothing.
  std::string find_for(ScheduledStatement& scheduled) {
    std::optional<Machine> machine = machine_for(scheduled.statement);
    if (!machine) return "the program has no machine";
    if (machine->name.empty()) return "its machine has no name";
    std::string reason = cannot_search(scheduled.statement);
    if (!reason.empty()) return reason;
    // A given schedule that names the machine takes it as the line Grid(P).
    bool grid_is_free = machine->is_free && !is_named_by_schedules(*machine);
    MachineShape grid = core::shape_of(*machine, params_);
    StatementShape shape = core::shape_of(found_.module, scheduled.statement, params_);
    shape.processors = processor_count(*machine).evaluate(params_);
    for (ShapeTensor& tensor : shape.tensors) {
      const Tensor& declared = *found_.module.find_tensor(tensor.name);
      if (!has_free_format(declared)) tensor.given = pieces_of(declared, params_, shape.processors);
    }
    if (shape.tensors[0].given && has_replicas(shape.tensors[0].name)) {
      return fmt::format("the given format of {} has replicas", shape.tensors[0].name);
    }
    SearchOptions search_options{shape.processors, options_.goal, options_.memory_bytes, options_.model, {}};
    if (!grid_is_free) search_options.given_grid = grid_of(grid);
    SearchResult result = search(shape, search_options);
    if (grid_is_free) machine = write_machine(*machine, result.best.candidate);
    write(scheduled, *machine, shape, result.best.candidate);
    found_.statements.push_back({scheduled.statement, std::move(shape), std::move(result)});
    return {};
  }

  // The machine of the output, else of the first operand that has one, else the only one declared.
  std::optional<Machine> machine_for(const Statement& statement) const {
    std::vector<Access> all = accesses(statement.rhs);
    all.insert(all.begin(), statement.lhs);
    for (const Access& access : all) {
      const Tensor* tensor = found_.module.find_tensor(access.tensor);
      if (tensor->machine) return tensor->machine;
    }
    if (found_.module.machines.size() == 1) return found_.module.machines[0];
    return std::nullopt;
  }

  bool has_replicas(const std::string& tensor) const {
    return Ownership(*found_.module.find_tensor(tensor), params_).has_replicas();
  }

  bool is_named_by_schedules(const Machine& machine) const {
    for (const ScheduledStatement& scheduled : found_.module.statements) {
      for (const Command& command : scheduled.schedule) {
        const GridRef* onto = onto_of(command);
        if (onto != nullptr && onto->name.text == machine.name) return true;
      }
    }
    return false;
  }

  // Gives a free machine the grid of a candidate. Formats that are given for the machine stay on its line of
  // processors.
  Machine write_machine(const Machine& free, const Candidate& candidate) {
    Machine machine = machine_of(candidate, free.name);
    for (Grid& level : machine.levels) level.processor = kind_of(free);
    machine.processors = free.processors;
    Machine line{"", free.levels, {}};
    for (Machine& declared : found_.module.machines) {
      if (declared.name == free.name) declared = machine;
    }
    for (Tensor& tensor : found_.module.tensors) {
      if (tensor.machine && tensor.machine->name == free.name) tensor.machine = tensor.distribution ? line : machine;
    }
    return machine;
  }

  void write(ScheduledStatement& scheduled, const Machine& machine, const StatementShape& shape,
             const Candidate& candidate) {
    scheduled.schedule = schedule_of(found_.module, scheduled.statement, shape, candidate, machine.name);
    for (size_t t = 0; t < shape.tensors.size(); ++t) {
      if (shape.tensors[t].given) continue;
      auto tensor = std::find_if(found_.module.tensors.begin(), found_.module.tensors.end(),
                                 [&](const Tensor& other) { return other.name == shape.tensors[t].name; });
      tensor->distribution = distribution_of(found_.module, scheduled.statement, shape, candidate, static_cast<int>(t));
    }
  }

  const Bindings& params_;
  const FindOptions& options_;
  FoundProgram found_;
};

}  // namespace

bool has_no_schedule(const ScheduledStatement& scheduled) {
  return scheduled.schedule.empty() && !scheduled.has_empty_schedule;
}

bool leaves_something_out(const Module& module) {
  return std::any_of(module.statements.begin(), module.statements.end(), has_no_schedule);
}

FoundProgram find_what_is_left_out(const Module& module, const Bindings& params, const FindOptions& options) {
  return Finder(module, params, options).find();
}

}  // namespace distal::core
