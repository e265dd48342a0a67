#include "leaf/nest.h"

#include <algorithm>
#include <iterator>

namespace distal::core {

namespace {

// The space without the variables that derive from `foreign` loops. A rotation by a foreign loop is computed as in that
// loop's first iteration, because a sum has the same addends in each.
IterationSpace<int64_t> without(IterationSpace<int64_t> space, std::vector<bool> foreign) {
  std::vector<Derivation> kept;
  auto is_foreign = [&](int v) -> bool { return foreign[v]; };
  auto keep = [&](const auto& d) {
    auto children = d.children();
    if (std::any_of(children.begin(), children.end(), is_foreign)) {
      for (int v : d.parents()) foreign[v] = true;
    } else if constexpr (requires { d.without_shifts(is_foreign); }) {
      kept.emplace_back(d.without_shifts(is_foreign));
    } else {
      kept.emplace_back(d);
    }
  };
  for (auto d = space.derivations.rbegin(); d != space.derivations.rend(); ++d) std::visit(keep, *d);
  space.derivations.assign(kept.rbegin(), kept.rend());
  return space;
}

std::vector<int> variables_of(const Compute& compute) {
  std::vector<int> out;
  for (const LeafOperand& o : compute.operands) out.insert(out.end(), o.indices.begin(), o.indices.end());
  for (const LeafTerm& t : compute.terms) out.insert(out.end(), t.only_at_zero.begin(), t.only_at_zero.end());
  return out;
}

}  // namespace

IterationSpace<int64_t> space_for(const IterationSpace<int64_t>& space, const std::vector<int>& variables) {
  std::vector<bool> in(static_cast<size_t>(space.size()), false);
  for (int variable : variables) {
    std::vector<bool> from = recovered_from(space.derivations, space.size(), variable);
    for (size_t v = 0; v < in.size(); ++v) in[v] = in[v] || from[v];
  }
  IterationSpace<int64_t> out = space;
  std::erase_if(out.derivations, [&](const Derivation& d) {
    std::vector<int> made = recovered_by(d);
    return std::none_of(made.begin(), made.end(), [&](int v) { return in[v]; });
  });
  return out;
}

IterationSpace<int64_t> space_of_part(const IterationSpace<int64_t>& space, const std::vector<LeafPart>& parts,
                                      const LeafPart& part) {
  std::vector<bool> foreign(static_cast<size_t>(space.size()), false);
  for (const LeafPart& other : parts) {
    if (&other == &part) continue;
    for (int loop : all_loops(other)) foreign[loop] = true;
  }
  IterationSpace<int64_t> out = without(space, std::move(foreign));
  return part.compute() ? space_for(out, variables_of(*part.compute())) : out;
}

std::vector<bool> known_before(const IterationSpace<int64_t>& space, const std::vector<int>& loops) {
  std::vector<bool> known = recovered_variables(space.derivations, space.size());
  known.flip();
  for (int v : loops) known[v] = false;
  return known;
}

int64_t iterations_of(const IterationSpace<int64_t>& space, int loop) {
  int64_t out = space.extents[loop];
  for (const Derivation& d : space.derivations) {
    std::optional<Clip> clip = clip_of(d);
    if (!clip || clip->tile != loop || space.extents[clip->inside] == 0) continue;
    out = std::min(out, ceil_div(space.extents[clip->variable], space.extents[clip->inside]));
  }
  return out;
}

LeafNest make_leaf_nest(const IterationSpace<int64_t>& space, const std::vector<int>& loops) {
  LeafNest nest{loops, {}};
  std::vector<bool> known = known_before(space, loops);
  std::vector<Derivation> waiting(space.derivations.rbegin(), space.derivations.rend());
  for (size_t depth = 0; depth <= loops.size(); ++depth) {
    if (depth > 0) known[loops[depth - 1]] = true;
    std::vector<Derivation> here, later;
    for (const Derivation& d : waiting) {
      bool ready = is_ready(d, known);
      (ready ? here : later).push_back(d);
      if (!ready) continue;
      for (int v : recovered_by(d)) known[v] = true;
    }
    waiting = std::move(later);
    nest.recovered.push_back(std::move(here));
  }
  return nest;
}

std::vector<int> loops_to_share(const IterationSpace<int64_t>& space, const LeafNest& nest,
                                const std::vector<int>& output) {
  std::vector<bool> follows = known_before(space, nest.loops);
  for (const Derivation& d : nest.recovered[0]) {
    for (int v : recovered_by(d)) follows[v] = true;
  }
  for (int v : output) follows[v] = true;
  follows = determined_by(space.derivations, std::move(follows));
  std::vector<int> out;
  std::copy_if(nest.loops.begin(), nest.loops.end(), std::back_inserter(out), [&](int v) { return follows[v]; });
  return out;
}

}  // namespace distal::core
