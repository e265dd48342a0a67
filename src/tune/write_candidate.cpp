#include "tune/write_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lang/ranges.h"
#include "support/checked.h"

namespace distal::core {

namespace {

IntExpr extent_of(const Module& module, const Statement& statement, const std::string& index) {
  return variable_extents(module, statement).at(index);
}

// A share of the tile of a level: the tile over `shares`, which divides the tile's multiple.
IntExpr share_of_tile(const IntExpr& extent, const GridLevel& level, int64_t multiple, int64_t shares) {
  return ceil_div(extent, IntExpr(level.parts * multiple)) * IntExpr(multiple / shares);
}

// Makes the schedule of a candidate.
class ScheduleWriter {
 public:
  ScheduleWriter(const Module& module, const Statement& statement, const StatementShape& shape,
                 const Candidate& candidate, const std::string& machine, const std::set<std::string>& taken)
      : module_(module), statement_(statement), shape_(shape), candidate_(candidate), machine_(machine), names_(taken) {
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

  bool has_several_levels() const { return !candidate_.levels.empty() && candidate_.levels.back().machine_level > 0; }

  // A level of the machine. Its dimensions that cut no index are held at 0, and some deal out their index in blocks.
  GridRef onto(int machine_level, const std::vector<std::string>& targets) const {
    GridRef ref;
    ref.name = Name{machine_, {}};
    if (has_several_levels()) ref.level = machine_level;
    LevelDistribution notation{targets, {}, {}, {}};
    size_t next = 0;
    for (const GridLevel& level : candidate_.levels) {
      if (level.machine_level != machine_level) continue;
      bool cuts = level.index != kNoIndex;
      if (level.is_cyclic()) notation.cyclic.emplace(targets[next], IntExpr(level.block));
      if (cuts) notation.machine_dimensions.push_back({Partition{targets[next++]}, {}});
      if (!cuts) notation.machine_dimensions.push_back({Fix{IntExpr(0)}, {}});
    }
    bool is_plain = notation.machine_dimensions.size() == targets.size() && notation.cyclic.empty();
    if (!is_plain) ref.notation = notation;
    return ref;
  }

  void distribute() {
    std::vector<std::string> order;
    bool rounds_up = false;
    for (size_t l = 0; l < candidate_.levels.size();) {
      int machine_level = candidate_.levels[l].machine_level;
      std::vector<std::string> targets, out, in;
      for (; l < candidate_.levels.size() && candidate_.levels[l].machine_level == machine_level; ++l) {
        int index = candidate_.levels[l].index;
        if (index == kNoIndex) continue;
        rounds_up = cut_up(candidate_.levels[l], order) || rounds_up;
        targets.push_back(inner_[index]);
        out.push_back(fresh(shape_.indices[index] + "o"));
        if (candidate_.levels[l].is_cyclic()) in.push_back(rounds_[index] = fresh(shape_.indices[index] + "b"));
        in.push_back(inner_[index] = fresh(shape_.indices[index] + "i"));
      }
      if (targets.empty()) continue;
      commands_.push_back({"distribute", {loops(targets), loops(out), loops(in), onto(machine_level, targets)}, {}});
      outer_.insert(outer_.end(), out.begin(), out.end());
    }
    if (!rounds_up && !has_mixed_order() && rounds_.empty()) return;
    order.insert(order.end(), outer_.begin(), outer_.end());
    for (const auto& [index, name] : ordered_rounds()) order.push_back(name);
    order.insert(order.end(), inner_.begin(), inner_.end());
    if (order.size() > 1) commands_.push_back({"reorder", {loops(order)}, {}});
  }

  // The loops over blocks that are dealt out, with their indices. Those of the output are outside of the others, so
  // each of its blocks is acquired once.
  std::vector<std::pair<int, std::string>> ordered_rounds() const {
    std::vector<std::pair<int, std::string>> out(rounds_.begin(), rounds_.end());
    std::stable_partition(out.begin(), out.end(), [&](const auto& r) { return has_index(shape_.tensors[0], r.first); });
    return out;
  }

  static bool has_index(const ShapeTensor& tensor, int index) {
    return std::find(tensor.indices.begin(), tensor.indices.end(), index) != tensor.indices.end();
  }

  // Commands of several levels leave the inner loops in the reverse order.
  bool has_mixed_order() const { return has_several_levels(); }

  // If a tile is rounded up, the index is first cut into parts as large as all tiles together. There is one such part,
  // for any size.
  bool cut_up(const GridLevel& level, std::vector<std::string>& order) {
    int64_t multiple = tile_multiple(shape_, candidate_, level);
    if (multiple == 1) return false;
    std::string name = shape_.indices[level.index];
    std::string all = fresh(name + "r"), part = fresh(name + "a");
    IntExpr tile = share_of_tile(extent_of(module_, statement_, name), level, multiple, 1);
    commands_.push_back({"split", {loop(name), loop(all), loop(part), tile * IntExpr(level.parts)}, {}});
    inner_[level.index] = part;
    order.push_back(all);
    return true;
  }

  void cut_sequentially() {
    std::vector<std::string> order;
    for (const SequentialLoop& cut : candidate_.loops) {
      const std::string& index = shape_.indices[cut.index];
      std::string step = fresh(index + "s"), inside = fresh(index + "p");
      commands_.push_back({"divide", {loop(inner_[cut.index]), loop(step), loop(inside), IntExpr(cut.parts)}, {}});
      inner_[cut.index] = inside;
      steps_.push_back(cut.is_rotated ? rotated(step, index, rotating_levels(shape_, candidate_, cut.index)) : step);
    }
    if (steps_.empty()) return;
    order = steps_;
    for (const auto& [index, name] : ordered_rounds()) order.push_back(name);
    order.insert(order.end(), inner_.begin(), inner_.end());
    commands_.push_back({"reorder", {loops(order)}, {}});
  }

  std::string rotated(const std::string& step, const std::string& index, const std::vector<int>& levels) {
    std::vector<std::string> by;
    for (int level : levels) by.push_back(loop_of(level));
    std::string turn = fresh(index + "t");
    commands_.push_back({"rotate", {loop(step), loops(by), loop(turn)}, {}});
    return turn;
  }

  // The distributed loop of a level. Levels that cut no index have none.
  std::string loop_of(int level) const {
    auto end = candidate_.levels.begin() + level;
    auto number = std::count_if(candidate_.levels.begin(), end, [](const auto& l) { return l.index != kNoIndex; });
    return outer_[static_cast<size_t>(number)];
  }

  // The loop at which a tensor is communicated: the innermost sequential one over an index of its own. An output that
  // is dealt out is acquired as one rectangle, so block by block, inside of the sequential loops.
  std::string communicated_at(int t) const {
    const ShapeTensor& tensor = shape_.tensors[t];
    std::vector<std::pair<int, std::string>> rounds = ordered_rounds();
    bool in_blocks = is_in_blocks(shape_, candidate_, t);
    for (auto round = rounds.rbegin(); in_blocks && round != rounds.rend(); ++round) {
      if (has_index(tensor, round->first)) return round->second;
    }
    for (size_t l = candidate_.loops.size(); l-- > 0;) {
      if (tensor.has_index(candidate_.loops[l].index)) return steps_[l];
    }
    return outer_.empty() ? "" : outer_.back();
  }

  void communicate() {
    std::vector<std::string> places = steps_;
    if (!outer_.empty()) places.insert(places.begin(), outer_.back());
    for (const auto& [index, name] : rounds_) places.push_back(name);
    for (const std::string& place : places) {
      std::vector<Name> tensors;
      for (int t = 0; t < static_cast<int>(shape_.tensors.size()); ++t) {
        // What the output held before is communicated where the output is.
        bool is_named = !shape_.tensors[t].is_old_output;
        if (is_named && communicated_at(t) == place) tensors.push_back({shape_.tensors[t].name, {}});
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
  std::map<int, std::string> rounds_;       // by index that is dealt out: the loop over its blocks
  std::vector<Command> commands_;
};

// The names of a tensor's dimensions in its distribution: those of its indices.
std::vector<std::string> dimension_names(const StatementShape& shape, const std::vector<int>& indices) {
  std::vector<std::string> names;
  for (size_t d = 0; d < indices.size(); ++d) {
    std::string name = indices[d] == kNoOwnIndex ? fmt::format("d{}", d) : shape.indices[indices[d]];
    while (indices[d] == kNoOwnIndex &&
           std::find(shape.indices.begin(), shape.indices.end(), name) != shape.indices.end())
      name += "_";
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

Machine machine_of(const Candidate& candidate, const std::string& name) {
  Machine machine{name, {}, {}};
  for (const GridLevel& level : candidate.levels) {
    if (static_cast<int>(machine.levels.size()) <= level.machine_level) machine.levels.emplace_back();
    machine.levels.back().extents.push_back(IntExpr(level.parts));
  }
  if (machine.levels.empty()) machine.levels.push_back(Grid{{IntExpr(1)}, Processor::CPU, {}});
  return machine;
}

Distribution distribution_of(const Module& module, const Statement& statement, const StatementShape& shape,
                             const Candidate& candidate, int tensor) {
  Distribution out;
  const std::vector<int>& indices = shape.tensors[tensor].indices;
  std::vector<std::string> names = dimension_names(shape, indices);
  for (size_t l = 0; l < candidate.levels.size(); ++l) {
    if (static_cast<int>(out.levels.size()) <= candidate.levels[l].machine_level) {
      out.levels.push_back({names, {}, {}, {}});
    }
    LevelDistribution& level = out.levels.back();
    int dimension = candidate.roles[tensor][l];
    if (dimension == kFace) {
      level.machine_dimensions.push_back({Fix{IntExpr(0)}, {}});
      continue;
    }
    level.machine_dimensions.push_back({Partition{names[dimension]}, {}});
    int own_level = candidate.level_of(indices[dimension]);
    if (own_level == static_cast<int>(l) && candidate.levels[l].is_cyclic()) {
      level.cyclic.emplace(names[dimension], IntExpr(candidate.levels[l].block));
      continue;
    }
    int64_t shares = cyclic_shares(shape, candidate, tensor, dimension);
    if (own_level < static_cast<int>(l)) continue;
    int64_t multiple = tile_multiple(shape, candidate, candidate.levels[own_level]);
    bool has_tiles = shape.extent_of(tensor, dimension) == shape.extents[indices[dimension]];
    if (multiple == 1 || !has_tiles) continue;
    IntExpr extent = extent_of(module, statement, names[dimension]);
    level.cyclic[names[dimension]] = share_of_tile(extent, candidate.levels[own_level], multiple, shares);
  }
  if (out.levels.empty()) out.levels.push_back({names, {{Fix{IntExpr(0)}, {}}}, {}, {}});
  return out;
}

std::vector<Command> schedule_of(const Module& module, const Statement& statement, const StatementShape& shape,
                                 const Candidate& candidate, const std::string& machine,
                                 const std::set<std::string>& taken) {
  return ScheduleWriter(module, statement, shape, candidate, machine, taken).write();
}

}  // namespace distal::core
