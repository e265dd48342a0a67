#include "schedule/redistribute.h"

#include <algorithm>
#include <optional>

namespace distal::core {

namespace {

// i, j, k, l, then i4, i5, ...
IndexVar index_name(size_t d) {
  static constexpr const char* kShort[] = {"i", "j", "k", "l"};
  return {d < 4 ? kShort[d] : "i" + std::to_string(d), {}};
}

// Builds the schedule level by level from the distribution of `to`. It tracks the loop order that the commands make.
class RedistributionSchedule {
 public:
  RedistributionSchedule(const Tensor& to, const std::string& from)
      : to_(to), from_(from), round_(to.dimensions.size()) {
    for (size_t d = 0; d < to.dimensions.size(); ++d) local_.push_back(index_name(d));
    loops_ = local_;
  }

  ScheduledStatement run() {
    Statement statement{{to_.name, local_, {}}, AssignOp::Assign, Expr(Access{from_, local_, {}}), {}};
    size_t levels = to_.distribution ? to_.distribution->levels.size() : 0;
    for (size_t level = 0; level < levels; ++level) {
      collapse_pieces(to_.distribution->levels[level]);
      follow(to_.distribution->levels[level], level, levels);
    }
    communicate();
    bool is_empty = commands_.empty();
    return {statement, std::move(commands_), std::nullopt, true, is_empty};
  }

 private:
  void add(const char* command, std::vector<Argument> arguments) {
    commands_.push_back({command, std::move(arguments), {}});
  }

  // Below a cyclic level, a level cuts the sequence of all blocks of a piece: the round loop and the local loop, fused.
  void collapse_pieces(const LevelDistribution& level) {
    for (const MachineDimension& m : level.machine_dimensions) {
      const auto* partition = std::get_if<Partition>(&m.role);
      if (!partition) continue;
      size_t d = level.dimension_of(*partition);
      if (!round_[d]) continue;
      IndexVar piece{local_[d].name + "_piece", {}};
      move_into(*round_[d], local_[d]);
      add("collapse", {*round_[d], local_[d], piece});
      std::erase(loops_, *round_[d]);
      std::replace(loops_.begin(), loops_.end(), local_[d], piece);
      std::erase(rounds_, *round_[d]);
      round_[d].reset();
      local_[d] = piece;
      scattered_.push_back(d);
    }
  }

  // Moves loop `inner` directly inside of loop `outer`.
  void move_into(const IndexVar& outer, const IndexVar& inner) {
    std::vector<IndexVar> wanted = loops_;
    std::erase(wanted, inner);
    wanted.insert(std::find(wanted.begin(), wanted.end(), outer) + 1, inner);
    reorder(wanted);
  }

  void reorder(const std::vector<IndexVar>& wanted) {
    if (wanted == loops_) return;
    add("reorder", {std::vector<IndexVar>(wanted.begin() + static_cast<std::ptrdiff_t>(distributed_), wanted.end())});
    loops_ = wanted;
  }

  static bool is_broadcast(const MachineDimension& m) { return std::holds_alternative<Broadcast>(m.role); }

  void follow(const LevelDistribution& level, size_t number, size_t levels) {
    std::vector<IndexVar> targets, distributed, local, rounds;
    GridRef onto{{to_.name, {}}, std::nullopt, std::nullopt, std::nullopt, {}};
    if (levels > 1) onto.level = static_cast<int>(number);
    // Only the notation form of distribute can run a copy at every replica.
    const auto& roles = level.machine_dimensions;
    if (std::any_of(roles.begin(), roles.end(), is_broadcast)) onto.notation = notation_of(level);
    for (const MachineDimension& m : level.machine_dimensions) {
      const auto* partition = std::get_if<Partition>(&m.role);
      if (!partition) continue;
      size_t d = level.dimension_of(*partition);
      targets.push_back(local_[d]);
      distributed.push_back({local_[d].name + "o", {}});
      local.push_back({local_[d].name + "i", {}});
      if (level.block_of(*partition)) {
        round_[d] = IndexVar{local_[d].name + "_round", {}};
        rounds.push_back(*round_[d]);
      }
      local_[d] = local.back();
    }
    for (const IndexVar& v : targets) std::erase(loops_, v);
    std::vector<IndexVar> made = distributed;
    made.insert(made.end(), rounds.begin(), rounds.end());
    made.insert(made.end(), local.begin(), local.end());
    loops_.insert(loops_.begin() + static_cast<std::ptrdiff_t>(distributed_), made.begin(), made.end());
    distributed_ += distributed.size();
    rounds_.insert(rounds_.end(), rounds.begin(), rounds.end());
    add("distribute", {targets, distributed, local, onto});
  }

  // The level's notation, with only those tensor dimensions that it cuts.
  static LevelDistribution notation_of(const LevelDistribution& level) {
    LevelDistribution out = level;
    out.tensor_dimensions.clear();
    for (const MachineDimension& m : level.machine_dimensions) {
      if (const auto* p = std::get_if<Partition>(&m.role)) out.tensor_dimensions.push_back(p->name);
    }
    return out;
  }

  bool is_scattered(size_t d) const { return std::find(scattered_.begin(), scattered_.end(), d) != scattered_.end(); }

  // Communicates directly outside of the loops over one rectangle of a piece. In a scattered dimension a rectangle is
  // one element wide.
  void communicate() {
    if (local_.empty()) return;
    std::vector<IndexVar> wanted(loops_.begin(), loops_.begin() + static_cast<std::ptrdiff_t>(distributed_));
    wanted.insert(wanted.end(), rounds_.begin(), rounds_.end());
    for (int d : to_.order) {
      if (is_scattered(static_cast<size_t>(d))) wanted.push_back(local_[static_cast<size_t>(d)]);
    }
    size_t steps = wanted.size();
    for (int d : to_.order) {
      if (!is_scattered(static_cast<size_t>(d))) wanted.push_back(local_[static_cast<size_t>(d)]);
    }
    reorder(wanted);
    if (steps == 0) {
      // Nothing is cut, so there is no loop outside of the piece. Make one with a single iteration.
      IndexVar whole{loops_[0].name + "o", {}};
      add("divide", {loops_[0], whole, IndexVar{loops_[0].name + "i", {}}, IntExpr(1)});
      loops_.insert(loops_.begin(), whole);
      steps = 1;
    }
    add("communicate", {std::vector<Name>{{to_.name, {}}, {from_, {}}}, loops_[steps - 1]});
  }

  const Tensor& to_;
  const std::string& from_;
  std::vector<Command> commands_;
  std::vector<IndexVar> local_;                 // per dimension: the loop that the next level cuts
  std::vector<std::optional<IndexVar>> round_;  // per dimension: the round loop, if the last level is cyclic in it
  std::vector<IndexVar> loops_;                 // the loop order after the commands so far
  size_t distributed_ = 0;                      // how many of these loops, at the front, are distributed
  std::vector<IndexVar> rounds_;
  std::vector<size_t> scattered_;  // the dimensions that a level cuts below a cyclic level
};

}  // namespace

ScheduledStatement redistribution(const Tensor& to, const std::string& from) {
  return RedistributionSchedule(to, from).run();
}

}  // namespace distal::core
