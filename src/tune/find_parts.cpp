#include "tune/find_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/ownership.h"
#include "schedule/expand_updates.h"
#include "tune/find_grid.h"
#include "tune/program_memory.h"
#include "tune/statement_shape.h"
#include "tune/write_candidate.h"

namespace distal::core {

namespace {

std::vector<GridLevel> grid_of(const MachineShape& machine) {
  std::vector<GridLevel> grid;
  for (size_t d = 0; d < machine.extents.size(); ++d)
    grid.push_back({kNoIndex, machine.extents[d], 1, machine.level[d]});
  return grid;
}

std::set<std::string> names_of(const StatementShape& shape) {
  std::set<std::string> names;
  for (const ShapeTensor& tensor : shape.tensors) names.insert(tensor.name);
  return names;
}

class PartsFinder {
 public:
  PartsFinder(const Module& module, const Statement& statement, const Split& split,
              const std::optional<Machine>& machine, const Bindings& params, const FindOptions& options)
      : machine_(machine),
        params_(params),
        options_(options),
        found_{module, split.precomputes, {}, split.elements},
        pieces_(params, processors()) {
    found_.module.tensors.insert(found_.module.tensors.end(), split.workspaces.begin(), split.workspaces.end());
    parts_ = parts_of(found_.module, statement, split);
    for (const Statement& part : parts_) {
      for (const IndexVar& v : variables(part)) names_.insert(v.name);
    }
  }

  FoundParts find(size_t grid_part) {
    if (machine_ && machine_->is_free && !takes_as_line(found_.module, *machine_)) {
      find_grid(grid_part);
    }
    for (size_t p = found_.parts.size(); p < parts_.size(); ++p) find_part(parts_[p]);
    return std::move(found_);
  }

 private:
  int64_t processors() const { return machine_ ? processor_count(*machine_).evaluate(params_) : 1; }

  // The program with all tensors that it will have, and the statements that access them.
  Module with_all_parts() const {
    Module out = expand_updates(found_.module);
    for (const Statement& part : parts_) out.statements.push_back({part, {}, std::nullopt, true});
    return out;
  }

  // Searches with the memory that the pieces of the program's other tensors leave.
  SearchResult search_part(const StatementShape& shape, std::vector<GridLevel> grid) {
    SearchOptions options{processors(),   options_.goal,   options_.memory_bytes,
                          options_.model, std::move(grid), options_.progress};
    if (!options.memory_bytes) return search(shape, options);
    int64_t others = pieces_.most_of_others(with_all_parts(), names_of(shape));
    *options.memory_bytes -= others;
    try {
      return search(shape, options);
    } catch (const DoesNotFit& too_large) {
      throw DoesNotFit(too_large.least_bytes() + others, *options_.memory_bytes);
    }
  }

  StatementShape shape_of_part(const Statement& part) const {
    return shape_with_formats(found_.module, part, params_, processors());
  }

  // Finds the grid for one of the parts. If that is the first part, keeps the schedule and the formats found with it.
  void find_grid(size_t grid_part) {
    StatementShape shape = shape_of_part(parts_[grid_part]);
    SearchResult result = search_part(shape, {});
    write_machine(result.best.candidate);
    if (grid_part == 0) add_part(parts_[0], std::move(shape), std::move(result));
  }

  void find_part(const Statement& part) {
    StatementShape shape = shape_of_part(part);
    std::vector<GridLevel> grid;
    if (machine_) grid = grid_of(core::shape_of(*machine_, params_));
    SearchResult result = search_part(shape, std::move(grid));
    add_part(part, std::move(shape), std::move(result));
  }

  void add_part(const Statement& part, StatementShape shape, SearchResult result) {
    if (machine_) write(part, shape, result.best.candidate);
    found_.parts.push_back({part, std::move(shape), std::move(result)});
  }

  void write_machine(const Candidate& candidate) {
    machine_ = give_grid(found_.module, *machine_, machine_of(candidate, machine_->name).levels);
  }

  void write(const Statement& part, const StatementShape& shape, const Candidate& candidate) {
    for (const Command& command : schedule_of(found_.module, part, shape, candidate, machine_->name, names_)) {
      for (const IndexVar& v : loops_made(command)) names_.insert(v.name);
      found_.schedule.push_back(command);
    }
    for (size_t t = 0; t < shape.tensors.size(); ++t) {
      if (shape.tensors[t].given || shape.tensors[t].is_old_output) continue;
      auto tensor = std::find_if(found_.module.tensors.begin(), found_.module.tensors.end(),
                                 [&](const Tensor& other) { return other.name == shape.tensors[t].name; });
      tensor->distribution = distribution_of(found_.module, part, shape, candidate, static_cast<int>(t));
    }
  }

  std::optional<Machine> machine_;
  const Bindings& params_;
  const FindOptions& options_;
  std::vector<Statement> parts_;
  std::set<std::string> names_;  // of loops
  FoundParts found_;
  PieceBytes pieces_;
};

}  // namespace

double FoundParts::seconds() const {
  double sum = 0;
  for (const FoundStatement& part : parts) sum += part.result.best.seconds;
  return sum;
}

int64_t FoundParts::exchanged_bytes() const {
  int64_t sum = 0;
  for (const FoundStatement& part : parts) sum += part.result.best.cost.exchanged_bytes;
  return sum;
}

int64_t FoundParts::bytes_moved() const {
  int64_t sum = 0;
  for (const FoundStatement& part : parts) sum += part.result.best.cost.bytes_moved;
  return sum;
}

FoundParts find_parts(const Module& module, const Statement& statement, const Split& split,
                      const std::optional<Machine>& machine, const Bindings& params, const FindOptions& options,
                      size_t grid_part) {
  return PartsFinder(module, statement, split, machine, params, options).find(grid_part);
}

int64_t memory_of(const Module& module, const Bindings& params, const std::vector<FoundStatement>& parts) {
  const Module expanded = expand_updates(module);
  int64_t most = 0;
  for (const FoundStatement& part : parts) {
    PieceBytes pieces(params, part.shape.processors);
    int64_t others = pieces.most_of_others(expanded, names_of(part.shape));
    most = std::max(most, part.result.best.cost.peak_bytes + others);
  }
  return most;
}

}  // namespace distal::core
