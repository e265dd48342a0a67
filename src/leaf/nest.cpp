#include "leaf/nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace distal::core {

namespace {

bool is_ready(const Derivation& d, const std::vector<bool>& known) {
  if (const auto* t = std::get_if<Tile>(&d)) return known[t->outer] && known[t->inner];
  if (const auto* f = std::get_if<Fuse>(&d)) return known[f->fused];
  const auto& r = std::get<Rotation>(d);
  return known[r.result] && std::all_of(r.by.begin(), r.by.end(), [&](int v) { return known[v]; });
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

std::vector<bool> known_before(const IterationSpace<int64_t>& space, const std::vector<int>& loops) {
  std::vector<bool> known = recovered_variables(space.derivations, space.size());
  known.flip();
  for (int v : loops) known[v] = false;
  return known;
}

int64_t iterations_of(const IterationSpace<int64_t>& space, int loop) {
  int64_t out = space.extents[loop];
  for (const Derivation& d : space.derivations) {
    const auto* t = std::get_if<Tile>(&d);
    if (!t || t->outer != loop || space.extents[t->inner] == 0) continue;
    out = std::min(out, ceil_div(space.extents[t->parent], space.extents[t->inner]));
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

std::vector<std::string> recovery_text(const Derivation& derivation, const std::function<std::string(int)>& name,
                                       const std::function<std::string(int)>& extent) {
  if (const auto* t = std::get_if<Tile>(&derivation)) {
    return {
        fmt::format("const Int {} = {} * {} + {};", name(t->parent), name(t->outer), extent(t->inner), name(t->inner))};
  }
  if (const auto* f = std::get_if<Fuse>(&derivation)) {
    return {fmt::format("const Int {} = {} / {};", name(f->outer), name(f->fused), extent(f->inner)),
            fmt::format("const Int {} = {} % {};", name(f->inner), name(f->fused), extent(f->inner))};
  }
  const auto& r = std::get<Rotation>(derivation);
  std::string sum = name(r.result);
  for (int by : r.by) sum += " + " + name(by);
  return {fmt::format("const Int {} = ({}) % {};", name(r.target), sum, extent(r.target))};
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
