#include "tune/find_grid.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "tune/candidate_cost.h"
#include "tune/free_formats.h"
#include "tune/grids.h"
#include "tune/search.h"
#include "tune/statement_shape.h"

namespace distal::core {

namespace {

// Grids that are compared.
constexpr int kMostGrids = 20'000;

using Loops = std::vector<IndexVar>;

const Loops* loops_of(const Argument& argument) { return std::get_if<Loops>(&argument); }

// The machine that a `distribute` of a program names; of one that names nothing, the only machine.
const Machine* machine_named_by(const Module& module, const Command& command) {
  const GridRef* onto = onto_of(command);
  if (onto != nullptr) return onto->grid || onto->notation ? nullptr : module.find_machine(onto->name.text);
  return module.machines.size() == 1 ? &module.machines[0] : nullptr;
}

// Follows the loops of a schedule back to the indices of its statement.
class LoopOrigins {
 public:
  explicit LoopOrigins(const Statement& statement) {
    for (const IndexVar& v : variables(statement)) index_of_[v.name] = v.name;
  }

  void apply(const Command& command) {
    Loops named = loops_named(command), made = loops_made(command);
    bool is_one_to_one = !named.empty() && made.size() % named.size() == 0;
    for (size_t m = 0; m < made.size() && !named.empty(); ++m) {
      index_of_[made[m].name] = index_of(is_one_to_one ? named[m % named.size()] : named[0]);
    }
  }

  // Empty if it is not known.
  std::string index_of(const IndexVar& loop) const {
    auto found = index_of_.find(loop.name);
    return found == index_of_.end() ? "" : found->second;
  }

 private:
  std::map<std::string, std::string> index_of_;
};

// The loops that a schedule distributes onto a machine.
struct Distributed {
  std::optional<Machine> machine;
  std::vector<std::string> indices;  // behind each loop
};

Distributed distributed_by(const Module& module, const ScheduledStatement& scheduled) {
  Distributed out;
  LoopOrigins origins(scheduled.statement);
  for (const Command& command : scheduled.schedule) {
    const Machine* machine = command.name == "distribute" ? machine_named_by(module, command) : nullptr;
    if (machine != nullptr && machine->is_free) {
      out.machine = *machine;
      if (const Loops* loops = loops_of(command.arguments[0])) {
        for (const IndexVar& loop : *loops) out.indices.push_back(origins.index_of(loop));
      }
    }
    origins.apply(command);
  }
  return out;
}

class GridFinder {
 public:
  GridFinder(const StatementShape& shape, const std::vector<std::string>& indices, const FindOptions& options)
      : shape_(shape), options_(options) {
    for (const std::string& name : indices) {
      auto index = std::find(shape.indices.begin(), shape.indices.end(), name);
      bool is_known = index != shape.indices.end();
      levels_.push_back({is_known ? static_cast<int>(index - shape.indices.begin()) : kNoIndex, 1});
      has_index_ = has_index_ && is_known && std::count(indices.begin(), indices.end(), name) == 1;
    }
  }

  std::vector<Grid> find() {
    constexpr int64_t kIdlePart = 10;
    int64_t most = shape_.processors, fewest = std::max<int64_t>(1, most - most / kIdlePart);
    for (int64_t processors = most; processors >= fewest && tried_ < kMostGrids; --processors) try_from(0, processors);
    Grid grid;
    for (int64_t extent : best_) grid.extents.emplace_back(extent);
    return {grid};
  }

 private:
  // What is minimised: processors without work, then what the goal asks for, then the difference of the extents.
  using Value = std::tuple<int64_t, double, double, int64_t>;

  void try_from(size_t next, int64_t processors) {
    if (next + 1 == levels_.size()) {
      levels_[next].parts = processors;
      return try_grid();
    }
    for (int64_t parts : divisors(processors)) {
      levels_[next].parts = parts;
      try_from(next + 1, processors / parts);
    }
  }

  void try_grid() {
    begin_candidate(options_.progress);
    ++tried_;
    auto by_parts = [](const GridLevel& a, const GridLevel& b) { return a.parts < b.parts; };
    auto [least, most] = std::minmax_element(levels_.begin(), levels_.end(), by_parts);
    Value value{0, 0, 0, most->parts - least->parts};
    if (has_index_) {
      Candidate candidate = with_free_formats(shape_, levels_);
      CandidateCost cost = cost_of(shape_, candidate);
      double bytes = static_cast<double>(cost.exchanged_bytes);
      double seconds = modelled_seconds(shape_, candidate, cost, options_.model);
      bool is_bytes = options_.goal == Goal::Bytes;
      int64_t idle = shape_.processors - cost.working_processors;
      std::get<0>(value) = std::max<int64_t>(0, idle - shape_.processors / 10);
      std::get<1>(value) = is_bytes ? bytes : seconds;
      std::get<2>(value) = is_bytes ? seconds : bytes;
    } else {
      std::get<0>(value) = shape_.processors - candidate_processors();
    }
    if (!best_.empty() && best_value_ <= value) return;
    best_value_ = value;
    best_.clear();
    for (const GridLevel& level : levels_) best_.push_back(level.parts);
  }

  int64_t candidate_processors() const {
    Candidate candidate;
    candidate.levels = levels_;
    return candidate.processors();
  }

  const StatementShape& shape_;
  const FindOptions& options_;
  std::vector<GridLevel> levels_;
  bool has_index_ = true;  // each loop cuts an index of its own
  int tried_ = 0;
  std::vector<int64_t> best_;
  Value best_value_;
};

}  // namespace

std::optional<Machine> machine_without_grid(const Module& module, const ScheduledStatement& scheduled) {
  Distributed distributed = distributed_by(module, scheduled);
  return distributed.indices.size() > 1 ? distributed.machine : std::nullopt;
}

void find_grid(Module& module, const ScheduledStatement& scheduled, const Bindings& params,
               const FindOptions& options) {
  Distributed distributed = distributed_by(module, scheduled);
  int64_t processors = processor_count(*distributed.machine).evaluate(params);
  StatementShape shape = shape_with_formats(module, scheduled.statement, params, processors);
  give_grid(module, *distributed.machine, GridFinder(shape, distributed.indices, options).find());
}

Machine give_grid(Module& module, const Machine& free, const std::vector<Grid>& levels) {
  Machine line{"", free.levels, {}}, machine = free;
  machine.is_free = false;
  machine.levels = levels;
  for (Grid& level : machine.levels) level.processor = kind_of(free);
  for (Machine& declared : module.machines) {
    if (declared.name == free.name) declared = machine;
  }
  for (Tensor& tensor : module.tensors) {
    if (tensor.machine && tensor.machine->name == free.name) tensor.machine = tensor.distribution ? line : machine;
  }
  return machine;
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
