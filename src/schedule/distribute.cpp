// distribute, bare and compound: where the iterations of loops run.

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "ir/deal_out.h"
#include "lang/suggest.h"
#include "schedule/checks.h"
#include "schedule/commands.h"
#include "support/text.h"

namespace distal::core {

namespace {

// The arguments of the compound form.
struct Compound {
  const std::vector<IndexVar>&targets, &distributed, &local;
  const GridRef& onto;
};

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
             fmt::format("distribute: {} is {}, but this statement runs on {}", m->name, to_string(*m),
                         to_string(machine)));
    }
    int level = level_of(nest, ref, machine, m->name);
    return Destination{level, machine.levels[level], nullptr};
  }
  const Tensor* tensor = context.module.find_tensor(ref.name.text);
  if (!tensor) {
    std::vector<std::string> machines;
    for (const Machine& m : context.module.machines) machines.push_back(m.name);
    std::string known = machines.empty() ? "" : "; the machines are " + listing(machines);
    refuse(nest, ref.span, fmt::format("distribute: {} is neither a machine nor a tensor{}", ref.name.text, known));
  }
  if (!tensor->distribution) {
    refuse(nest, ref.span, fmt::format("distribute: tensor {} has no distribution to follow", tensor->name));
  }
  access_of(nest, *tensor, ref.span);
  if (tensor->machine->levels != machine.levels) {
    refuse(nest, ref.span,
           fmt::format("distribute: {} is on {}, but this statement runs on {}", tensor->name,
                       to_string(*tensor->machine), to_string(machine)));
  }
  int level = level_of(nest, ref, machine, tensor->name);
  return Destination{level, machine.levels[level], tensor};
}

// How a machine dimension cuts a target: into blocks of the grid's number, or, if a block is given, dealt out in turn.
struct Cut {
  size_t target;
  int dimension;
  std::optional<IntExpr> block;
};
// What happens along a machine dimension.
using Role = std::variant<Cut, HoldRelation, EverywhereRelation>;

// The roles of the machine dimensions in a distribution. `target_of` is the target that a dimension of X stands for;
// `along_replicas` is the role of a dimension with `*`, if it has one.
template <class TargetOf, class AlongReplicas>
std::vector<Role> roles_in(const LevelDistribution& level, int number, TargetOf target_of,
                           AlongReplicas along_replicas) {
  std::vector<Role> out;
  for (size_t d = 0; d < level.machine_dimensions.size(); ++d) {
    int dimension = static_cast<int>(d);
    auto partition = [&](const Partition& p) {
      out.push_back(Cut{target_of(level.dimension_of(p)), dimension, level.block_of(p)});
    };
    auto broadcast = [&](const Broadcast&) {
      if (std::optional<Role> role = along_replicas(d)) out.push_back(*role);
    };
    std::visit(Overloaded{partition,
                          [&](const Fix& fix) {
                            out.push_back(HoldRelation{number, dimension, fix.face});
                          },
                          broadcast},
               level.machine_dimensions[d].role);
  }
  return out;
}

// The first target without a cut; targets.size() if all have one.
size_t uncut_target(const Compound& c, const std::vector<Role>& roles) {
  std::vector<bool> cut(c.targets.size(), false);
  for (const Role& role : roles) {
    if (const auto* found = std::get_if<Cut>(&role)) cut[found->target] = true;
  }
  return static_cast<size_t>(std::find(cut.begin(), cut.end(), false) - cut.begin());
}

std::vector<Role> follow_tensor(const Nest& nest, const Compound& c, const Destination& onto) {
  const LevelDistribution& level = onto.follow->distribution->levels[onto.level];
  Access access = access_of(nest, *onto.follow, c.onto.span);
  std::vector<bool> used(c.targets.size(), false);
  auto target_of = [&](size_t x) {
    const IndexVar& v = access.indices[x];
    if (access.is_shifted(x)) {
      refuse(nest, c.onto.span,
             fmt::format("distribute: {} is shifted in {}, so the iterations of {} do not lie where their elements of "
                         "{} live; distribute onto a machine, or onto a tensor without a shift",
                         v.name, to_string(access), v.name, onto.follow->name));
    }
    for (size_t t = 0; t < c.targets.size(); ++t) {
      std::vector<IndexVar> from = origins(nest, c.targets[t]);
      if (used[t] || from.size() != 1 || from[0] != v) continue;
      used[t] = true;
      return t;
    }
    refuse(nest, c.onto.span,
           fmt::format("distribute: {0} is cut along its index {1}, and no target is made from {1}", onto.follow->name,
                       v.name));
  };
  // Along replicas every coordinate has the tensor, and the loops run at 0.
  auto along_replicas = [](size_t) { return std::optional<Role>(); };
  std::vector<Role> roles = roles_in(level, onto.level, target_of, along_replicas);
  if (size_t t = uncut_target(c, roles); t < c.targets.size()) {
    refuse(nest, c.targets[t].span,
           fmt::format("distribute: {} is not cut along {}; its distribution is {}", onto.follow->name,
                       c.targets[t].name, to_string(level)));
  }
  return roles;
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
std::vector<Role> follow_notation(const Nest& nest, const Compound& c, const Destination& onto,
                                  const ScheduleContext& context) {
  const LevelDistribution& notation = *c.onto.notation;
  auto along_replicas = [&](size_t d) -> std::optional<Role> {
    if (copies_into_replicas(nest, context, onto.level, d)) {
      return EverywhereRelation{onto.level, static_cast<int>(d)};
    }
    refuse(nest, notation.machine_dimensions[d].span,
           "distribute: `*` would run each iteration on all processors of a dimension, which is legal only for a "
           "copy into replicas there; fix the dimension to a face");
  };
  std::vector<Role> roles = roles_in(
      notation, onto.level, [](size_t x) { return x; }, along_replicas);
  if (size_t t = uncut_target(c, roles); t < c.targets.size()) {
    refuse(nest, c.targets[t].span,
           fmt::format("distribute: loop {0} is {1} in {2}, but {1} is missing on the right side", c.targets[t].name,
                       notation.tensor_dimensions[t], to_string(notation)));
  }
  return roles;
}

std::vector<Role> follow_grid(const Nest& nest, const Compound& c, const Destination& onto) {
  if (c.targets.size() != onto.grid.extents.size()) {
    refuse(nest, c.onto.span,
           fmt::format("distribute: {} has {}, but the command gives {}", to_string(onto.grid),
                       dimensions_text(onto.grid), counted(static_cast<int64_t>(c.targets.size()), "loop")));
  }
  std::vector<Role> out;
  for (size_t t = 0; t < c.targets.size(); ++t) out.push_back(Cut{t, static_cast<int>(t), std::nullopt});
  return out;
}

void check_names(const Nest& nest, const Compound& c) {
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

// Requires a local loop for each target, or, of each that is dealt out, also one over its rounds.
void check_lengths(const Nest& nest, const Compound& c, size_t dealt_out) {
  size_t targets = c.targets.size(), local = c.local.size();
  if (targets == c.distributed.size() && (local == targets || local == targets + dealt_out)) return;
  std::string given = fmt::format("distribute: {}, {} and {}; the three lists must have the same length",
                                  counted(static_cast<int64_t>(targets), "target"),
                                  counted(static_cast<int64_t>(c.distributed.size()), "distributed loop"),
                                  counted(static_cast<int64_t>(local), "local loop"));
  if (dealt_out > 0) {
    given += fmt::format(", or the last one {} more: the rounds of each target that is dealt out", dealt_out);
  }
  refuse(nest, c.onto.span, given);
}

// The local loops of a target. A target that is dealt out has one over its rounds.
struct LocalLoops {
  std::optional<IndexVar> rounds;
  IndexVar inside;
};

// The local loops by target. They stand in the command target by target, rounds before inside. Rounds that it does not
// name get a name made from that of the target.
std::vector<LocalLoops> local_loops(const Nest& nest, const Compound& c, const std::vector<Role>& roles,
                                    const ScheduleContext& context) {
  std::vector<bool> dealt_out(c.targets.size(), false);
  for (const Role& role : roles) {
    if (const auto* cut = std::get_if<Cut>(&role); cut && cut->block) dealt_out[cut->target] = true;
  }
  check_lengths(nest, c, static_cast<size_t>(std::count(dealt_out.begin(), dealt_out.end(), true)));
  bool named = c.local.size() > c.targets.size();
  std::vector<LocalLoops> out;
  auto next = c.local.begin();
  for (size_t t = 0; t < c.targets.size(); ++t) {
    LocalLoops loops;
    if (dealt_out[t]) loops.rounds = named ? *next++ : made_up(nest, context, c.targets[t], "_round");
    loops.inside = *next++;
    out.push_back(loops);
  }
  return out;
}

void add_cut(Nest& nest, const Compound& c, const Cut& cut, const LocalLoops& local, const Destination& onto,
             const ScheduleContext& context) {
  const IndexVar& target = c.targets[cut.target];
  DealtLoops loops{c.distributed[cut.target], local.inside, {}};
  if (cut.block) loops.cyclic = {made_up(nest, context, target, "_block"), *local.rounds, *cut.block};
  deal_out(target, loops, onto.grid.extents[cut.dimension], onto.level, cut.dimension, nest.relations);
}

// The loops that are distributed already, then the new distributed loops, the rounds, the insides and the others.
std::vector<IndexVar> new_order(const Nest& nest, const Compound& c, const std::vector<IndexVar>& rounds,
                                const std::vector<LocalLoops>& local) {
  size_t below = 0;
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    if (nest.is_distributed(nest.loops[i])) below = i + 1;
  }
  std::vector<IndexVar> out, others;
  for (size_t i = 0; i < nest.loops.size(); ++i) {
    if (!contains(c.targets, nest.loops[i])) (i < below ? out : others).push_back(nest.loops[i]);
  }
  out.insert(out.end(), c.distributed.begin(), c.distributed.end());
  out.insert(out.end(), rounds.begin(), rounds.end());
  for (const LocalLoops& loops : local) out.push_back(loops.inside);
  out.insert(out.end(), others.begin(), others.end());
  return out;
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

void refuse_taken_dimension(const Nest& nest, int level, int dimension, const SourceSpan& span) {
  const auto* taken = find_relation<DistributeRelation>(
      nest.relations, [&](const auto& d) { return d.level == level && d.dimension == dimension; });
  if (!taken) return;
  refuse(nest, span,
         fmt::format("distribute: loop {} is distributed onto dimension {} of level {} of the machine already",
                     taken->variable.name, dimension, level));
}

Nest distribute(const Nest& nest, const ScheduleContext& context, const std::vector<IndexVar>& variables,
                const std::optional<GridRef>& ref) {
  require_distinct(nest, variables, "distribute");
  for (const IndexVar& v : variables) {
    require_loop(nest, v, "distribute");
    if (nest.is_distributed(v)) refuse(nest, v.span, fmt::format("distribute: loop {} is distributed already", v.name));
    require_replaceable(nest, v, "distribute");
  }
  if (!context.machine) {
    refuse(nest, variables[0].span,
           "distribute: there is no machine to distribute onto; declare one, for example machine M = Grid(2, 2)");
  }
  std::optional<int> level;
  if (ref) {
    Destination onto = resolve(nest, *ref, context);
    if (onto.follow) {
      refuse(nest, ref->span, "distribute: only the form with targets and local loops can follow a tensor");
    }
    level = onto.level;
  }
  Nest out = nest;
  for (const IndexVar& v : variables) out.relations.push_back(DistributeRelation{v, level, std::nullopt});
  if (level) require_free_dimensions(nest, out, *context.machine, level, variables.back().span);
  require_free_dimensions(nest, out, *context.machine, std::nullopt, variables.back().span);
  return out;
}

Nest distribute_onto(const Nest& nest, const ScheduleContext& context, const std::vector<IndexVar>& targets,
                     const std::vector<IndexVar>& distributed, const std::vector<IndexVar>& local, const GridRef& ref) {
  Compound c{targets, distributed, local, ref};
  check_names(nest, c);
  Destination onto = resolve(nest, ref, context);
  std::vector<Role> roles = ref.notation  ? follow_notation(nest, c, onto, context)
                            : onto.follow ? follow_tensor(nest, c, onto)
                                          : follow_grid(nest, c, onto);
  std::vector<LocalLoops> loops = local_loops(nest, c, roles, context);
  Nest out = nest;
  std::vector<IndexVar> rounds;
  for (const Role& role : roles) {
    auto cut = [&](const Cut& made) {
      refuse_taken_dimension(nest, onto.level, made.dimension, ref.span);
      add_cut(out, c, made, loops[made.target], onto, context);
      if (made.block) rounds.push_back(*loops[made.target].rounds);
    };
    std::visit(Overloaded{cut, [&](const auto& mark) { out.relations.push_back(mark); }}, role);
  }
  out.loops = new_order(nest, c, rounds, loops);
  return out;
}

}  // namespace

CommandRow distribute_command() {
  CommandRow row =
      command("distribute", "distribute(io), distribute({io, jo}, M) or distribute({i, j}, {io, jo}, {ii, ji}, M)",
              distribute, loops().without_braces(), onto().optional());
  row.at_outermost_nest = true;
  return row;
}

// A tensor that nothing cuts is followed by no loop, so the lists may be empty.
CommandRow distribute_onto_command() {
  CommandRow row = command("distribute", distribute_command().signature.usage, distribute_onto, loops().or_none(),
                           new_loops().or_none(), new_loops().or_none(), onto().by_notation());
  row.at_outermost_nest = true;
  return row;
}

}  // namespace distal::core
