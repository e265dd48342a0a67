#include "ir/iteration_space.h"

#include <algorithm>

#include <fmt/format.h>

namespace distal::core {

namespace {

int add_variable(IterationSpace<IntExpr>& space, const std::string& name, const IntExpr& extent) {
  space.names.push_back(name);
  space.extents.push_back(extent);
  return space.size() - 1;
}

struct Builder {
  IterationSpace<IntExpr>& space;

  int number(const IndexVar& v) const { return find_variable(space, v.name); }

  void operator()(const SplitRelation& r) { add_tile(space, number(r.parent), r.outer.name, r.inner.name, r.size); }
  void operator()(const DivideRelation& r) {
    int parent = number(r.parent);
    IntExpr size = ceil_div(space.extents[parent], r.parts);
    int outer = add_variable(space, r.outer.name, r.parts);
    int inner = add_variable(space, r.inner.name, size);
    space.derivations.push_back(Tile{parent, outer, inner});
  }
  void operator()(const CollapseRelation& r) {
    int outer = number(r.outer);
    int inner = number(r.inner);
    int fused = add_variable(space, r.fused.name, space.extents[outer] * space.extents[inner]);
    space.derivations.push_back(Fuse{outer, inner, fused});
  }
  void operator()(const RotateRelation& r) {
    int target = number(r.target);
    std::vector<int> by;
    for (const IndexVar& v : r.by) by.push_back(number(v));
    int result = add_variable(space, r.result.name, space.extents[target]);
    space.derivations.push_back(Rotation{target, by, result});
  }
  void operator()(const DistributeRelation&) {}
  void operator()(const HoldRelation&) {}
  void operator()(const EverywhereRelation&) {}
  void operator()(const CommunicateRelation&) {}
  void operator()(const SubstituteRelation&) {}
  void operator()(const ParallelizeRelation&) {}
  void operator()(const UnrollRelation&) {}
  void operator()(const VectorizeRelation&) {}
  // Copies derive from one another like their originals, and from the loops around producer and consumer.
  void operator()(const PrecomputeRelation& r) {
    std::map<int, int> copy;
    for (size_t i = 0; i < r.originals.size(); ++i) {
      int original = number(r.originals[i]);
      copy[original] = add_variable(space, r.copies[i].name, space.extents[original]);
    }
    auto mapped = [&](int v) { return copy.count(v) > 0 ? copy.at(v) : v; };
    // Each copied derivation goes next to its original: both must precede the derivations of their common children.
    std::vector<Derivation> all;
    for (const Derivation& d : space.derivations) {
      all.push_back(d);
      if (const auto* t = std::get_if<Tile>(&d); t && copy.count(t->parent) > 0) {
        all.push_back(Tile{mapped(t->parent), mapped(t->outer), mapped(t->inner)});
      } else if (const auto* f = std::get_if<Fuse>(&d); f && copy.count(f->outer) > 0) {
        all.push_back(Fuse{mapped(f->outer), mapped(f->inner), mapped(f->fused)});
      } else if (const auto* o = std::get_if<Rotation>(&d); o && copy.count(o->target) > 0) {
        std::vector<int> by;
        for (int v : o->by) by.push_back(mapped(v));
        all.push_back(Rotation{mapped(o->target), by, mapped(o->result)});
      }
    }
    space.derivations = std::move(all);
  }
};

}  // namespace

int find_variable(const IterationSpace<IntExpr>& space, const std::string& name) {
  for (int v = 0; v < space.size(); ++v) {
    if (space.names[v] == name) return v;
  }
  throw InternalError(fmt::format("no variable {} in the iteration space", name));
}

std::pair<int, int> add_tile(IterationSpace<IntExpr>& space, int parent, const std::string& outer,
                             const std::string& inner, const IntExpr& size) {
  int o = add_variable(space, outer, ceil_div(space.extents[parent], size));
  int i = add_variable(space, inner, size);
  space.derivations.push_back(Tile{parent, o, i});
  return {o, i};
}

IterationSpace<IntExpr> make_space(const std::vector<IndexVar>& variables,
                                   const std::map<std::string, IntExpr>& extents,
                                   const std::vector<Relation>& relations) {
  IterationSpace<IntExpr> space;
  for (const IndexVar& v : variables) add_variable(space, v.name, extents.at(v.name));
  for (const Relation& r : relations) std::visit(Builder{space}, r);
  return space;
}

std::vector<int> recovered_by(const Derivation& derivation) {
  if (const auto* t = std::get_if<Tile>(&derivation)) return {t->parent};
  if (const auto* f = std::get_if<Fuse>(&derivation)) return {f->outer, f->inner};
  return {std::get<Rotation>(derivation).target};
}

std::vector<bool> recovered_variables(const std::vector<Derivation>& derivations, int variables) {
  std::vector<bool> out(static_cast<size_t>(variables), false);
  for (const Derivation& d : derivations) {
    for (int v : recovered_by(d)) out[v] = true;
  }
  return out;
}

std::vector<bool> recovered_from(const std::vector<Derivation>& derivations, int variables, int variable) {
  std::vector<bool> in(static_cast<size_t>(variables), false);
  in[variable] = true;
  // Children come after their parents, so one pass in order reaches everything.
  for (const Derivation& d : derivations) {
    if (const auto* t = std::get_if<Tile>(&d)) {
      if (in[t->parent]) in[t->outer] = in[t->inner] = true;
    } else if (const auto* f = std::get_if<Fuse>(&d)) {
      if (in[f->outer] || in[f->inner]) in[f->fused] = true;
    } else if (const auto* r = std::get_if<Rotation>(&d)) {
      if (!in[r->target]) continue;
      in[r->result] = true;
      for (int by : r->by) in[by] = true;
    }
  }
  return in;
}

std::vector<bool> determined_by(const std::vector<Derivation>& derivations, std::vector<bool> known) {
  // Children come after their parents, so one pass in order reaches everything.
  for (const Derivation& d : derivations) {
    if (const auto* t = std::get_if<Tile>(&d)) {
      if (known[t->parent]) known[t->outer] = known[t->inner] = true;
    } else if (const auto* f = std::get_if<Fuse>(&d)) {
      if (known[f->outer] && known[f->inner]) known[f->fused] = true;
    } else if (const auto* r = std::get_if<Rotation>(&d)) {
      bool all = std::all_of(r->by.begin(), r->by.end(), [&](int v) -> bool { return known[v]; });
      if (known[r->target] && all) known[r->result] = true;
    }
  }
  return known;
}

std::vector<bool> made_from(const std::vector<Derivation>& derivations, int variables, int variable) {
  std::vector<bool> in(static_cast<size_t>(variables), false);
  in[variable] = true;
  for (auto d = derivations.rbegin(); d != derivations.rend(); ++d) {
    if (const auto* t = std::get_if<Tile>(&*d)) {
      if (in[t->outer] || in[t->inner]) in[t->parent] = true;
    } else if (const auto* f = std::get_if<Fuse>(&*d)) {
      if (in[f->fused]) in[f->outer] = in[f->inner] = true;
    } else if (const auto* r = std::get_if<Rotation>(&*d)) {
      if (in[r->result]) in[r->target] = true;
    }
  }
  return in;
}

IterationSpace<int64_t> evaluate(const IterationSpace<IntExpr>& space, const Bindings& params) {
  IterationSpace<int64_t> out;
  out.names = space.names;
  out.derivations = space.derivations;
  for (const IntExpr& e : space.extents) out.extents.push_back(e.evaluate(params));
  return out;
}

}  // namespace distal::core
