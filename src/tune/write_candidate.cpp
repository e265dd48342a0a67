#include "tune/write_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "lang/validate.h"
#include "support/checked.h"

namespace distal::core {

namespace {

IntExpr extent_of(const Module& module, const Statement& statement, const std::string& index) {
  return variable_extents(module, statement).at(index);
}

// The number that the tile of a level is a multiple of, over all tensors.
int64_t tile_multiple(const StatementShape& shape, const Candidate& candidate, const GridLevel& level) {
  int64_t multiple = 1;
  for (size_t t = 0; t < shape.tensors.size(); ++t) {
    const std::vector<int>& indices = shape.tensors[t].indices;
    auto own = std::find(indices.begin(), indices.end(), level.index);
    if (own == indices.end()) continue;
    int dimension = static_cast<int>(own - indices.begin());
    multiple = std::lcm(multiple, cyclic_shares(shape, candidate, static_cast<int>(t), dimension));
  }
  return multiple;
}

// A share of the tile of a level: the tile over `shares`, which divides the tile's multiple.
IntExpr share_of_tile(const IntExpr& extent, const GridLevel& level, int64_t multiple, int64_t shares) {
  return ceil_div(extent, IntExpr(level.parts * multiple)) * IntExpr(multiple / shares);
}

// Whether all levels can be one grid: no tile is rounded up, and no dimension of a tensor is cut by several levels.
bool is_flat(const StatementShape& shape, const Candidate& candidate) {
  for (const GridLevel& level : candidate.levels) {
    if (tile_multiple(shape, candidate, level) > 1) return false;
  }
  for (const LevelRoles& roles : candidate.roles) {
    std::set<int> dimensions;
    for (int role : roles) {
      if (role != kFace && !dimensions.insert(role).second) return false;
    }
  }
  return true;
}

// Makes the schedule of a candidate.
class ScheduleWriter {
 public:
  ScheduleWriter(const Module& module, const Statement& statement, const StatementShape& shape,
                 const Candidate& candidate, const std::string& machine)
      : module_(module), statement_(statement), shape_(shape), candidate_(candidate), machine_(machine) {
    for (const std::string& index : shape.indices) names_.insert(index);
    inner_ = shape.indices;
  }

  std::vector<Command> write() {
    distribute();
    cut_sequentially();
    communicate();
    return std::move(commands_);
  }

 private:
  static IndexVar loop(const std::string& name) { return IndexVar{name, {}}; }
  static std::vector<IndexVar> loops(const std::vector<std::string>& names) {
    std::vector<IndexVar> out;
    for (const std::string& name : names) out.push_back(loop(name));
    return out;
  }

  std::string fresh(const std::string& name) {
    std::string out = name;
    for (int n = 1; !names_.insert(out).second; ++n) out = fmt::format("{}{}", name, n);
    return out;
  }

  GridRef onto(int level) const {
    GridRef ref;
    ref.name = Name{machine_, {}};
    if (level >= 0) ref.level = level;
    return ref;
  }

  void distribute() {
    std::vector<std::string> inner(inner_);
    for (const GridLevel& level : candidate_.levels) {
      outer_.push_back(fresh(shape_.indices[level.index] + "o"));
      inner[level.index] = fresh(shape_.indices[level.index] + "i");
    }
    if (candidate_.levels.empty()) return;
    if (is_flat(shape_, candidate_)) {
      distribute_flat(inner);
    } else {
      distribute_levels(inner);
    }
    inner_ = inner;
  }

  void distribute_flat(const std::vector<std::string>& inner) {
    std::vector<std::string> targets, local;
    for (const GridLevel& level : candidate_.levels) {
      targets.push_back(shape_.indices[level.index]);
      local.push_back(inner[level.index]);
    }
    commands_.push_back({"distribute", {loops(targets), loops(outer_), loops(local), onto(-1)}, {}});
  }

  // If a tile is rounded up, the index is first cut into parts as large as all tiles together. There is one such part,
  // for any size.
  void distribute_levels(const std::vector<std::string>& inner) {
    std::vector<std::string> order;
    std::vector<std::string> targets;
    for (const GridLevel& level : candidate_.levels) {
      targets.push_back(shape_.indices[level.index]);
      int64_t multiple = tile_multiple(shape_, candidate_, level);
      if (multiple == 1) continue;
      std::string name = targets.back();
      targets.back() = fresh(name + "a");
      order.push_back(fresh(name + "r"));
      IntExpr tile = share_of_tile(extent_of(module_, statement_, name), level, multiple, 1);
      IntExpr all = tile * IntExpr(level.parts);
      commands_.push_back({"split", {loop(name), loop(order.back()), loop(targets.back()), all}, {}});
    }
    for (size_t l = 0; l < outer_.size(); ++l) {
      std::vector<IndexVar> target{loop(targets[l])}, out{loop(outer_[l])};
      std::vector<IndexVar> in{loop(inner[candidate_.levels[l].index])};
      commands_.push_back({"distribute", {target, out, in, onto(static_cast<int>(l))}, {}});
    }
    order.insert(order.end(), outer_.begin(), outer_.end());
    order.insert(order.end(), inner.begin(), inner.end());
    commands_.push_back({"reorder", {loops(order)}, {}});
  }

  void cut_sequentially() {
    std::vector<std::string> order;
    for (const SequentialLoop& cut : candidate_.loops) {
      const std::string& index = shape_.indices[cut.index];
      std::string step = fresh(index + "s"), inside = fresh(index + "p");
      commands_.push_back({"divide", {loop(inner_[cut.index]), loop(step), loop(inside), IntExpr(cut.parts)}, {}});
      inner_[cut.index] = inside;
      steps_.push_back(step);
    }
    if (steps_.empty()) return;
    order = steps_;
    order.insert(order.end(), inner_.begin(), inner_.end());
    commands_.push_back({"reorder", {loops(order)}, {}});
  }

  // The loop at which a tensor is communicated: the innermost sequential one over an index of its own.
  std::string communicated_at(const ShapeTensor& tensor) const {
    for (size_t l = candidate_.loops.size(); l-- > 0;) {
      int index = candidate_.loops[l].index;
      if (std::find(tensor.indices.begin(), tensor.indices.end(), index) != tensor.indices.end()) return steps_[l];
    }
    return outer_.empty() ? "" : outer_.back();
  }

  void communicate() {
    std::vector<std::string> places = steps_;
    if (!outer_.empty()) places.insert(places.begin(), outer_.back());
    for (const std::string& place : places) {
      std::vector<Name> tensors;
      for (const ShapeTensor& tensor : shape_.tensors) {
        if (communicated_at(tensor) == place) tensors.push_back({tensor.name, {}});
      }
      if (!tensors.empty()) commands_.push_back({"communicate", {tensors, loop(place)}, {}});
    }
  }

  const Module& module_;
  const Statement& statement_;
  const StatementShape& shape_;
  const Candidate& candidate_;
  std::string machine_;
  std::set<std::string> names_;
  std::vector<std::string> outer_, steps_;  // by level, by sequential loop
  std::vector<std::string> inner_;          // by index: the loop that is left of it
  std::vector<Command> commands_;
};

}  // namespace

Machine machine_of(const StatementShape& shape, const Candidate& candidate, const std::string& name) {
  Machine machine{name, {}, {}};
  bool flat = is_flat(shape, candidate);
  for (const GridLevel& level : candidate.levels) {
    if (machine.levels.empty() || !flat) machine.levels.emplace_back();
    machine.levels.back().extents.push_back(IntExpr(level.parts));
  }
  if (machine.levels.empty()) machine.levels.push_back(Grid{{IntExpr(1)}, Processor::CPU, {}});
  return machine;
}

Distribution distribution_of(const Module& module, const Statement& statement, const StatementShape& shape,
                             const Candidate& candidate, int tensor) {
  Distribution out;
  bool flat = is_flat(shape, candidate);
  const std::vector<int>& indices = shape.tensors[tensor].indices;
  std::vector<std::string> names;
  for (int index : indices) names.push_back(shape.indices[index]);
  for (size_t l = 0; l < candidate.levels.size(); ++l) {
    if (out.levels.empty() || !flat) out.levels.push_back({names, {}, {}, {}});
    LevelDistribution& level = out.levels.back();
    int dimension = candidate.roles[tensor][l];
    if (dimension == kFace) {
      level.machine_dimensions.push_back({Fix{IntExpr(0)}, {}});
      continue;
    }
    level.machine_dimensions.push_back({Partition{names[dimension]}, {}});
    int own_level = candidate.level_of(indices[dimension]);
    int64_t shares = cyclic_shares(shape, candidate, tensor, dimension);
    if (own_level < static_cast<int>(l)) continue;
    int64_t multiple = tile_multiple(shape, candidate, candidate.levels[own_level]);
    if (multiple == 1) continue;
    IntExpr extent = extent_of(module, statement, names[dimension]);
    level.cyclic[names[dimension]] = share_of_tile(extent, candidate.levels[own_level], multiple, shares);
  }
  if (out.levels.empty()) out.levels.push_back({names, {{Fix{IntExpr(0)}, {}}}, {}, {}});
  return out;
}

std::vector<Command> schedule_of(const Module& module, const Statement& statement, const StatementShape& shape,
                                 const Candidate& candidate, const std::string& machine) {
  return ScheduleWriter(module, statement, shape, candidate, machine).write();
}

}  // namespace distal::core
