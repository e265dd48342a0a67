// distribute, bare and compound: where the iterations of loops run.

#include <fmt/format.h>

#include <algorithm>

#include "schedule/checks.h"
#include "schedule/commands.h"
#include "support/text.h"

namespace distal::core {

namespace {

// Where a command distributes loops to: a level of the statement's machine.
struct Destination {
  int level = 0;
  Grid grid;                       // the extents to divide by
  const Tensor* follow = nullptr;  // the tensor whose distribution the loops follow; null: none
};

std::string dimensions_text(const Grid& grid) {
  return counted(static_cast<int64_t>(grid.extents.size()), "dimension");
}

std::vector<int> used_levels(const Nest& nest) {
  std::vector<int> levels;
  for (const auto* d : relations_of<DistributeRelation>(nest.relations)) {
    if (d->level) levels.push_back(*d->level);
  }
  return levels;
}

int level_of(const Nest& nest, const GridRef& ref, const Machine& machine, const std::string& what) {
  int levels = static_cast<int>(machine.levels.size());
  if (!ref.level) {
    if (levels == 1) return 0;
    refuse(nest, ref.span,
           fmt::format("distribute: {0} has {1} levels; name one of {0}[0] to {0}[{2}]", what, levels, levels - 1));
  }
  if (*ref.level < 0 || *ref.level >= levels) {
    refuse(nest, ref.span,
           fmt::format("distribute: {} has no level {}; its levels are 0 to {}", what, *ref.level, levels - 1));
  }
  return *ref.level;
}

// A grid that is written in the command stands for the first level that no loop was distributed onto yet.
Destination resolve_grid(const Nest& nest, const GridRef& ref, const Machine& machine) {
  std::vector<int> used = used_levels(nest);
  for (int level = 0; level < static_cast<int>(machine.levels.size()); ++level) {
    if (std::find(used.begin(), used.end(), level) != used.end()) continue;
    size_t have = machine.levels[level].extents.size();
    if (ref.grid->extents.size() != have) {
      refuse(nest, ref.span,
             fmt::format("distribute: {} has {}, but level {} of the machine, {}, has {}", to_string(*ref.grid),
                         dimensions_text(*ref.grid), level, to_string(machine.levels[level]), have));
    }
    return Destination{level, *ref.grid, nullptr};
  }
  refuse(nest, ref.span, fmt::format("distribute: every level of the machine {} is taken already", to_string(machine)));
}

Access access_of(const Nest& nest, const Tensor& tensor, const SourceSpan& span) {
  for (const Assignment& a : assignments(nest.body)) {
    if (a.lhs.tensor == tensor.name) return a.lhs;
    for (const Access& access : accesses(a.rhs)) {
      if (access.tensor == tensor.name) return access;
    }
  }
  refuse(nest, span, fmt::format("distribute: tensor {} is not in this statement", tensor.name));
}

Destination resolve(const Nest& nest, const GridRef& ref, const ScheduleContext& context) {
  // context.machine is empty only if the reference names a tensor or nothing: grids and machine names set it.
  const Machine machine = context.machine.value_or(Machine{});
  if (ref.grid) return resolve_grid(nest, ref, machine);
  if (const Machine* m = context.module.find_machine(ref.name.text)) {
    if (m->levels != machine.levels) {
      refuse(nest, ref.span,
             fmt::format("distribute: {} is {}, but the tensors of this statement are on {}", m->name, to_string(*m),
                         to_string(machine)));
    }
    int level = level_of(nest, ref, machine, m->name);
    return Destination{level, machine.levels[level], nullptr};
  }
  const Tensor* tensor = context.module.find_tensor(ref.name.text);
  if (!tensor) {
    refuse(nest, ref.span, fmt::format("distribute: {} is neither a machine nor a tensor", ref.name.text));
  }
  if (!tensor->distribution) {
    refuse(nest, ref.span, fmt::format("distribute: tensor {} has no distribution to follow", tensor->name));
  }
  access_of(nest, *tensor, ref.span);
  int level = level_of(nest, ref, machine, tensor->name);
  return Destination{level, machine.levels[level], tensor};
}

// The relations and loops that the compound command makes, collected target by target.
struct Compound {
  std::vector<Relation> relations;
  std::vector<IndexVar> rounds;  // the round loops of cyclic dimensions
};

void distribute_block(Compound& out, const DistributeOntoCommand& c, size_t t, const Destination& onto, int dimension) {
  out.relations.push_back(DivideRelation{c.targets[t], c.distributed[t], c.local[t], onto.grid.extents[dimension]});
  out.relations.push_back(DistributeRelation{c.distributed[t], onto.level, dimension});
}

// i -> (processor, round, inside): one split makes the block number, a second one splits that into round and processor.
void distribute_cyclic(Compound& out, const Nest& nest, const DistributeOntoCommand& c, size_t t,
                       const Destination& onto, int dimension, const IntExpr& block) {
  IndexVar number{c.targets[t].name + "_block", c.targets[t].span};
  IndexVar round{c.targets[t].name + "_round", c.targets[t].span};
  require_new(nest, number, "distribute");
  require_new(nest, round, "distribute");
  out.relations.push_back(SplitRelation{c.targets[t], number, c.local[t], block});
  out.relations.push_back(SplitRelation{number, round, c.distributed[t], onto.grid.extents[dimension]});
  out.relations.push_back(DistributeRelation{c.distributed[t], onto.level, dimension});
  out.rounds.push_back(round);
}

// The first unused target that was made from index `v`; targets.size() if there is none.
size_t target_of(const Nest& nest, const std::vector<IndexVar>& targets, const std::vector<bool>& used,
                 const IndexVar& v) {
  for (size_t t = 0; t < targets.size(); ++t) {
    std::vector<IndexVar> from = origins(nest, targets[t]);
    if (!used[t] && from.size() == 1 && from[0] == v) return t;
  }
  return targets.size();
}

Compound follow_tensor(const Nest& nest, const DistributeOntoCommand& c, const Destination& onto) {
  const LevelDistribution& level = onto.follow->distribution->levels[onto.level];
  Access access = access_of(nest, *onto.follow, c.onto.span);
  Compound out;
  std::vector<bool> used(c.targets.size(), false);
  for (size_t d = 0; d < level.machine_dimensions.size(); ++d) {
    const auto& role = level.machine_dimensions[d].role;
    if (const auto* fix = std::get_if<Fix>(&role)) {
      out.relations.push_back(HoldRelation{onto.level, static_cast<int>(d), fix->face});
      continue;
    }
    const auto* partition = std::get_if<Partition>(&role);
    if (!partition) continue;  // a broadcast dimension: every coordinate has the tensor, and the loops run at 0
    auto name = std::find(level.tensor_dimensions.begin(), level.tensor_dimensions.end(), partition->name);
    const IndexVar& v = access.indices[static_cast<size_t>(name - level.tensor_dimensions.begin())];
    size_t t = target_of(nest, c.targets, used, v);
    if (t == c.targets.size()) {
      refuse(nest, c.onto.span,
             fmt::format("distribute: {} is cut along its index {}, and no target is made from {}", onto.follow->name,
                         v.name, v.name));
    }
    used[t] = true;
    auto block = level.cyclic.find(partition->name);
    if (block == level.cyclic.end()) {
      distribute_block(out, c, t, onto, static_cast<int>(d));
    } else {
      distribute_cyclic(out, nest, c, t, onto, static_cast<int>(d), block->second);
    }
  }
  for (size_t t = 0; t < used.size(); ++t) {
    if (!used[t]) {
      refuse(nest, c.targets[t].span,
             fmt::format("distribute: {} is not cut along {}; its distribution is {}", onto.follow->name,
                         c.targets[t].name, to_string(level)));
    }
  }
  return out;
}

// Whether the statement copies into replicas along this machine dimension. Such a copy may run at every replica: a
// replica then keeps the elements that it has, and fetches the others from the nearest source.
bool copies_into_replicas(const Nest& nest, const ScheduleContext& context, int level, size_t dimension) {
  const auto* a = nest.body.as<Assignment>();
  if (!a || !is_copy(Statement{a->lhs, a->op, a->rhs, {}})) return false;
  const Tensor* output = context.module.find_tensor(a->lhs.tensor);
  if (!output || !output->distribution) return false;
  const auto& roles = output->distribution->levels[static_cast<size_t>(level)].machine_dimensions;
  return std::holds_alternative<Broadcast>(roles[dimension].role);
}

// Maps the loops to the grid by a distribution notation, like the dimensions of a tensor.
Compound follow_notation(const Nest& nest, const DistributeOntoCommand& c, const Destination& onto,
                         const ScheduleContext& context) {
  const LevelDistribution& notation = *c.onto.notation;
  Compound out;
  std::vector<bool> used(c.targets.size(), false);
  for (size_t d = 0; d < notation.machine_dimensions.size(); ++d) {
    const MachineDimension& dimension = notation.machine_dimensions[d];
    if (const auto* fix = std::get_if<Fix>(&dimension.role)) {
      out.relations.push_back(HoldRelation{onto.level, static_cast<int>(d), fix->face});
      continue;
    }
    const auto* partition = std::get_if<Partition>(&dimension.role);
    if (!partition) {
      if (!copies_into_replicas(nest, context, onto.level, d)) {
        refuse(nest, dimension.span,
               "distribute: `*` would run each iteration on all processors of a dimension, which is legal only for a "
               "copy into replicas there; fix the dimension to a face");
      }
      out.relations.push_back(EverywhereRelation{onto.level, static_cast<int>(d)});
      continue;
    }
    const auto& names = notation.tensor_dimensions;
    auto t = static_cast<size_t>(std::find(names.begin(), names.end(), partition->name) - names.begin());
    used[t] = true;
    auto block = notation.cyclic.find(partition->name);
    if (block == notation.cyclic.end()) {
      distribute_block(out, c, t, onto, static_cast<int>(d));
    } else {
      distribute_cyclic(out, nest, c, t, onto, static_cast<int>(d), block->second);
    }
  }
  for (size_t t = 0; t < used.size(); ++t) {
    if (used[t]) continue;
    refuse(nest, c.targets[t].span,
           fmt::format("distribute: loop {0} is {1} in {2}, but {1} is missing on the right side", c.targets[t].name,
                       notation.tensor_dimensions[t], to_string(notation)));
  }
  return out;
}

Compound follow_grid(const Nest& nest, const DistributeOntoCommand& c, const Destination& onto) {
  if (c.targets.size() != onto.grid.extents.size()) {
    refuse(nest, c.onto.span,
           fmt::format("distribute: {} has {}, but the command gives {}", to_string(onto.grid),
                       dimensions_text(onto.grid), counted(static_cast<int64_t>(c.targets.size()), "loop")));
  }
  Compound out;
  for (size_t t = 0; t < c.targets.size(); ++t) distribute_block(out, c, t, onto, static_cast<int>(t));
  return out;
}

void check_compound(const Nest& nest, const DistributeOntoCommand& c) {
  if (c.targets.size() != c.distributed.size() || c.targets.size() != c.local.size()) {
    refuse(nest, c.onto.span,
           fmt::format("distribute: {}, {} and {}; the three lists must have the same length",
                       counted(static_cast<int64_t>(c.targets.size()), "target"),
                       counted(static_cast<int64_t>(c.distributed.size()), "distributed loop"),
                       counted(static_cast<int64_t>(c.local.size()), "local loop")));
  }
  std::vector<IndexVar> made = c.distributed;
  made.insert(made.end(), c.local.begin(), c.local.end());
  require_distinct(nest, c.targets, "distribute");
  require_distinct(nest, made, "distribute");
  for (const IndexVar& v : c.targets) {
    require_loop(nest, v, "distribute");
    require_replaceable(nest, v, "distribute");
  }
  for (const IndexVar& v : made) require_new(nest, v, "distribute");
}

// Requires that a level, or the whole machine, has at least as many dimensions as loops distributed onto it.
void require_free_dimensions(const Nest& before, const Nest& after, const Machine& machine, std::optional<int> level,
                             const SourceSpan& span) {
  size_t have = 0, wanted = 0;
  for (size_t l = 0; l < machine.levels.size(); ++l) {
    if (!level || *level == static_cast<int>(l)) have += machine.levels[l].extents.size();
  }
  for (const auto* d : relations_of<DistributeRelation>(after.relations)) {
    wanted += !level || d->level == level ? 1 : 0;
  }
  if (wanted <= have) return;
  refuse(before, span,
         fmt::format("distribute: {} would be distributed onto the {} of {}",
                     counted(static_cast<int64_t>(wanted), "loop"), counted(static_cast<int64_t>(have), "dimension"),
                     level ? to_string(machine.levels[*level]) : to_string(machine)));
}

void refuse_taken_dimensions(const Nest& nest, const Compound& made, const SourceSpan& span) {
  for (const auto* d : relations_of<DistributeRelation>(made.relations)) {
    const auto* taken = find_relation<DistributeRelation>(
        nest.relations, [&](const auto& o) { return o.level == d->level && o.dimension == d->dimension; });
    if (!taken) continue;
    refuse(nest, span,
           fmt::format("distribute: loop {} is distributed onto dimension {} of level {} of the machine already",
                       taken->variable.name, *d->dimension, *d->level));
  }
}

}  // namespace

Nest apply(const Nest& nest, const DistributeCommand& c, const ScheduleContext& context) {
  require_distinct(nest, c.variables, "distribute");
  for (const IndexVar& v : c.variables) {
    require_loop(nest, v, "distribute");
    if (nest.is_distributed(v)) refuse(nest, v.span, fmt::format("distribute: loop {} is distributed already", v.name));
    require_replaceable(nest, v, "distribute");
  }
  if (!context.machine) {
    refuse(nest, c.variables[0].span,
           "distribute: there is no machine to distribute onto; declare one, for example machine M = Grid(2, 2)");
  }
  std::optional<int> level;
  if (c.onto) {
    Destination onto = resolve(nest, *c.onto, context);
    if (onto.follow) {
      refuse(nest, c.onto->span, "distribute: only the form with targets and local loops can follow a tensor");
    }
    level = onto.level;
  }
  Nest out = nest;
  for (const IndexVar& v : c.variables) out.relations.push_back(DistributeRelation{v, level, std::nullopt});
  if (level) require_free_dimensions(nest, out, *context.machine, level, c.variables.back().span);
  require_free_dimensions(nest, out, *context.machine, std::nullopt, c.variables.back().span);
  return out;
}

Nest apply(const Nest& nest, const DistributeOntoCommand& c, const ScheduleContext& context) {
  check_compound(nest, c);
  Destination onto = resolve(nest, c.onto, context);
  Compound made = c.onto.notation ? follow_notation(nest, c, onto, context)
                  : onto.follow   ? follow_tensor(nest, c, onto)
                                  : follow_grid(nest, c, onto);
  refuse_taken_dimensions(nest, made, c.onto.span);

  // The new order: the loops that were distributed before, the new distributed loops, the rounds, the local loops, the
  // rest.
  size_t below = 0;
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    if (nest.is_distributed(nest.loops[i])) below = i + 1;
  }
  std::vector<IndexVar> loops(nest.loops.begin(), nest.loops.begin() + static_cast<std::ptrdiff_t>(below));
  auto is_target = [&](const IndexVar& v) {
    return std::find(c.targets.begin(), c.targets.end(), v) != c.targets.end();
  };
  loops.erase(std::remove_if(loops.begin(), loops.end(), is_target), loops.end());
  loops.insert(loops.end(), c.distributed.begin(), c.distributed.end());
  loops.insert(loops.end(), made.rounds.begin(), made.rounds.end());
  loops.insert(loops.end(), c.local.begin(), c.local.end());
  for (size_t i = below; i < nest.loops.size(); ++i) {
    if (!is_target(nest.loops[i])) loops.push_back(nest.loops[i]);
  }
  Nest out{loops, nest.body, nest.relations, {}};
  out.relations.insert(out.relations.end(), made.relations.begin(), made.relations.end());
  return out;
}

}  // namespace distal::core
