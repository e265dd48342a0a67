#include "leaf/nest.h"

#include <algorithm>

namespace distal::core {

namespace {

bool is_ready(const Derivation& d, const std::vector<bool>& known) {
  if (const auto* t = std::get_if<Tile>(&d)) return known[t->outer] && known[t->inner];
  if (const auto* f = std::get_if<Fuse>(&d)) return known[f->fused];
  const auto& r = std::get<Rotation>(d);
  return known[r.result] && std::all_of(r.by.begin(), r.by.end(), [&](int v) { return known[v]; });
}

void make_known(const Derivation& d, std::vector<bool>& known) {
  if (const auto* t = std::get_if<Tile>(&d)) known[t->parent] = true;
  if (const auto* f = std::get_if<Fuse>(&d)) known[f->outer] = known[f->inner] = true;
  if (const auto* r = std::get_if<Rotation>(&d)) known[r->target] = true;
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
    if (const auto* t = std::get_if<Tile>(&d)) return !in[t->parent];
    if (const auto* f = std::get_if<Fuse>(&d)) return !in[f->outer] && !in[f->inner];
    return !in[std::get<Rotation>(d).target];
  });
  return out;
}

LeafNest make_leaf_nest(const IterationSpace<int64_t>& space, const std::vector<int>& loops) {
  LeafNest nest{loops, {}};
  std::vector<bool> known(static_cast<size_t>(space.size()), true);
  for (const Derivation& d : space.derivations) {
    if (const auto* t = std::get_if<Tile>(&d)) known[t->parent] = false;
    if (const auto* f = std::get_if<Fuse>(&d)) known[f->outer] = known[f->inner] = false;
    if (const auto* r = std::get_if<Rotation>(&d)) known[r->target] = false;
  }
  for (int v : loops) known[v] = false;
  std::vector<Derivation> waiting(space.derivations.rbegin(), space.derivations.rend());
  for (size_t depth = 0; depth <= loops.size(); ++depth) {
    if (depth > 0) known[loops[depth - 1]] = true;
    std::vector<Derivation> here, later;
    for (const Derivation& d : waiting) {
      (is_ready(d, known) ? here : later).push_back(d);
      if (is_ready(d, known)) make_known(d, known);
    }
    waiting = std::move(later);
    nest.recovered.push_back(std::move(here));
  }
  return nest;
}

}  // namespace distal::core
