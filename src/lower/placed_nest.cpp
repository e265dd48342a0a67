#include "lower/placed_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "schedule/checks.h"

namespace distal::core {

namespace {

using MachinePosition = std::pair<int, int>;  // level, dimension

// Finds the machine dimension of every distributed loop. Loops that name a dimension take it first, then loops that
// only name a level. The other loops take the remaining dimensions in loop order.
class DimensionAssignment {
 public:
  DimensionAssignment(const Nest& nest, const Machine& machine) : nest_(nest), machine_(machine) {}

  std::map<std::string, MachinePosition> run() {
    for (const auto* d : relations_of<DistributeRelation>(nest_.relations)) {
      if (d->dimension) {
        MachinePosition at{*d->level, *d->dimension};
        out_[d->variable.name] = at;
        taken_.insert(at);
      } else {
        open_[d->variable.name] = d;
      }
    }
    assign(true);
    assign(false);
    return std::move(out_);
  }

 private:
  void assign(bool level_is_named) {
    for (const IndexVar& loop : nest_.loops) {
      auto found = open_.find(loop.name);
      if (found == open_.end() || found->second->level.has_value() != level_is_named) continue;
      out_[loop.name] = take(*found->second);
    }
  }

  MachinePosition take(const DistributeRelation& d) {
    for (int level = 0; level < static_cast<int>(machine_.levels.size()); ++level) {
      if (d.level && *d.level != level) continue;
      for (int dim = 0; dim < static_cast<int>(machine_.levels[level].extents.size()); ++dim) {
        if (taken_.insert({level, dim}).second) return {level, dim};
      }
    }
    refuse(nest_, d.variable.span,
           fmt::format("distribute: no dimension of {} is left for loop {}", to_string(machine_), d.variable.name));
  }

  const Nest& nest_;
  const Machine& machine_;
  std::map<std::string, MachinePosition> out_;
  std::set<MachinePosition> taken_;
  std::map<std::string, const DistributeRelation*> open_;  // by loop: the distributes that name no dimension
};

// The name, with underscores behind it if a variable or a param has it. All variables of the user are known here.
IndexVar unused_name(std::string name, const std::vector<std::string>& variables, const std::vector<Param>& params) {
  auto is_param = [&](const Param& p) { return p.name == name; };
  while (std::find(variables.begin(), variables.end(), name) != variables.end() ||
         std::any_of(params.begin(), params.end(), is_param)) {
    name += "_";
  }
  return {name, {}};
}

}  // namespace

int PlacedNest::end_of_launch(int position) const {
  int count = static_cast<int>(loops.size());
  auto in_launch = [&](int p) { return loops[p].distributed; };
  // A round loop follows the launch that it belongs to, and has the name of its distributed loop.
  auto is_round = [&](int p) { return !loops[p].distributed && loops[p].name != space.names[loops[p].variable]; };
  if (!in_launch(position) && !is_round(position)) return position;
  auto continues = [&](int p) {
    if (in_launch(p + 1)) return in_launch(p) && loops[p].level == loops[p + 1].level;
    return is_round(p + 1);
  };
  while (position + 1 < count && continues(position)) ++position;
  return position;
}

PlacedNest place_nest(const Nest& nest, const Statement& statement, const std::map<std::string, IntExpr>& extents,
                      const std::optional<Machine>& machine, const std::vector<Param>& params) {
  PlacedNest out;
  out.machine = machine ? *machine : Machine{"", {Grid{{IntExpr(1)}, Processor::CPU, {}}}, {}};
  out.space = make_space(variables(statement), extents, nest.relations);
  auto dimensions = DimensionAssignment(nest, out.machine).run();

  std::vector<PlacedLoop> rounds;  // of the launch being collected
  auto flush_rounds = [&] {
    out.loops.insert(out.loops.end(), rounds.begin(), rounds.end());
    rounds.clear();
  };
  for (const IndexVar& loop : nest.loops) {
    int variable = find_variable(out.space, loop.name);
    auto at = dimensions.find(loop.name);
    if (at == dimensions.end()) {
      flush_rounds();
      out.loops.push_back({variable, false, 0, 0, loop.name});
      continue;
    }
    auto [level, dimension] = at->second;
    if (!out.loops.empty() && out.loops.back().distributed && out.loops.back().level != level) flush_rounds();
    const IntExpr& grid = out.machine.levels[level].extents[dimension];
    if (!(out.space.extents[variable] == grid)) {
      auto made_up = [&](const char* suffix) { return unused_name(loop.name + suffix, out.space.names, params); };
      Tile turns = SplitRelation{loop, made_up("_turn"), made_up("_processor"), grid}.add_to(out.space);
      out.space.derivations.emplace_back(turns);
      rounds.push_back({turns.outer, false, 0, 0, loop.name});
      variable = turns.inner;
    }
    out.loops.push_back({variable, true, level, dimension, loop.name});
  }
  flush_rounds();

  for (const auto* h : relations_of<HoldRelation>(nest.relations)) {
    out.held.push_back({h->level, h->dimension, h->face});
  }
  for (const auto* e : relations_of<EverywhereRelation>(nest.relations)) {
    // A later distribute may have taken the dimension.
    bool taken = std::any_of(out.loops.begin(), out.loops.end(), [&](const PlacedLoop& l) {
      return l.distributed && l.level == e->level && l.dimension == e->dimension;
    });
    if (!taken) out.everywhere.push_back({e->level, e->dimension});
  }
  return out;
}

}  // namespace distal::core
