#include "tune/find_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/ownership.h"
#include "tune/program_memory.h"
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

// The dimensions of a tensor that are dealt out, with their indices.
void add_cyclic_cuts(const Tensor& tensor, const ShapeTensor& access, const Bindings& params,
                     std::vector<CyclicCut>& cuts) {
  if (!tensor.distribution) return;
  std::vector<int> times(tensor.dimensions.size(), 0);  // that a dimension is cut
  std::vector<CyclicCut> found;
  for (size_t l = 0; l < tensor.distribution->levels.size(); ++l) {
    const LevelDistribution& level = tensor.distribution->levels[l];
    for (size_t m = 0; m < level.machine_dimensions.size(); ++m) {
      const auto* partition = std::get_if<Partition>(&level.machine_dimensions[m].role);
      if (partition == nullptr) continue;
      size_t dimension = level.dimension_of(*partition);
      ++times[dimension];
      std::optional<IntExpr> block = level.block_of(*partition);
      int64_t parts = tensor.machine->levels[l].extents[m].evaluate(params);
      if (block) found.push_back({static_cast<int>(dimension), parts, block->evaluate(params)});
    }
  }
  for (CyclicCut cut : found) {
    if (times[static_cast<size_t>(cut.index)] > 1) continue;  // a schedule cannot follow cuts by several levels
    cut.index = access.indices[static_cast<size_t>(cut.index)];
    if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end()) cuts.push_back(cut);
  }
}

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
        found_{module, split.precomputes, {}, split.elements, {}},
        pieces_(params, processors()) {
    found_.module.tensors.insert(found_.module.tensors.end(), split.workspaces.begin(), split.workspaces.end());
    parts_ = parts_of(found_.module, statement, split);
    for (const Statement& part : parts_) {
      for (const IndexVar& v : variables(part)) names_.insert(v.name);
    }
  }

  FoundParts find(size_t grid_part) {
    // On one processor, nothing has to be cut.
    for (size_t p = 0; machine_ && p < parts_.size(); ++p) {
      found_.reason = why_not(parts_[p]);
      if (!found_.reason.empty()) return std::move(found_);
    }
    if (machine_ && machine_->is_free && !takes_as_line(found_.module, *machine_)) {
      find_grid(grid_part);
    }
    for (size_t p = found_.parts.size(); p < parts_.size(); ++p) find_part(parts_[p]);
    return std::move(found_);
  }

 private:
  std::string why_not(const Statement& part) const {
    const Tensor& output = *found_.module.find_tensor(part.lhs.tensor);
    std::string reason = cannot_search(part);
    if (!reason.empty() || has_free_format(output)) return reason;
    if (Ownership(output, params_).has_replicas())
      return fmt::format("the given format of {} has replicas", output.name);
    return {};
  }

  int64_t processors() const { return machine_ ? processor_count(*machine_).evaluate(params_) : 1; }

  // Searches with the memory that the pieces of the program's other tensors leave.
  SearchResult search_part(const StatementShape& shape, std::vector<GridLevel> grid) {
    SearchOptions options{processors(), options_.goal, options_.memory_bytes, options_.model, std::move(grid)};
    if (!options.memory_bytes) return search(shape, options);
    int64_t others = pieces_.most_of_others(found_.module, names_of(shape));
    *options.memory_bytes -= others;
    try {
      return search(shape, options);
    } catch (const DoesNotFit& too_large) {
      throw DoesNotFit(too_large.least_bytes() + others, *options_.memory_bytes);
    }
  }

  StatementShape shape_of_part(const Statement& part) const {
    StatementShape shape = core::shape_of(found_.module, part, params_);
    shape.processors = processors();
    for (int64_t& extent : shape.extents) extent = std::max<int64_t>(extent, 1);  // nothing to do; any grid will do
    for (ShapeTensor& tensor : shape.tensors) {
      const Tensor& declared = *found_.module.find_tensor(tensor.name);
      bool is_free = has_free_format(declared) || !machine_;
      if (is_free) continue;
      tensor.given = pieces_of(declared, params_, shape.processors);
      add_cyclic_cuts(declared, tensor, params_, shape.cyclic_cuts);
    }
    return shape;
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

  // Gives a free machine the grid of a candidate. Formats that were given for the machine stay on a line of its
  // processors.
  void write_machine(const Candidate& candidate) {
    Machine free = *machine_, line{"", free.levels, {}};
    Machine& machine = *machine_ = machine_of(candidate, free.name);
    for (Grid& level : machine.levels) level.processor = kind_of(free);
    machine.processors = free.processors;
    for (Machine& declared : found_.module.machines) {
      if (declared.name == free.name) declared = machine;
    }
    for (Tensor& tensor : found_.module.tensors) {
      if (tensor.machine && tensor.machine->name == free.name) tensor.machine = tensor.distribution ? line : machine;
    }
  }

  void write(const Statement& part, const StatementShape& shape, const Candidate& candidate) {
    for (const Command& command : schedule_of(found_.module, part, shape, candidate, machine_->name, names_)) {
      for (const IndexVar& v : loops_made(command)) names_.insert(v.name);
      found_.schedule.push_back(command);
    }
    for (size_t t = 0; t < shape.tensors.size(); ++t) {
      if (shape.tensors[t].given) continue;
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
  int64_t most = 0;
  for (const FoundStatement& part : parts) {
    PieceBytes pieces(params, part.shape.processors);
    int64_t others = pieces.most_of_others(module, names_of(part.shape));
    most = std::max(most, part.result.best.cost.peak_bytes + others);
  }
  return most;
}

bool takes_as_line(const Module& module, const Machine& machine) {
  for (const ScheduledStatement& scheduled : module.statements) {
    for (const Command& command : scheduled.schedule) {
      const GridRef* onto = onto_of(command);
      if (onto != nullptr && onto->name.text == machine.name) return true;
    }
  }
  return false;
}

}  // namespace distal::core
