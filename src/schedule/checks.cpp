#include "schedule/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace distal::core {

namespace {

// What a relation takes away and what it puts in its place, as a phrase; empty if it replaces nothing.
struct Replacement {
  const IndexVar& v;

  std::string operator()(const SplitRelation& r) const { return tiled(r.parent, r.outer, r.inner, "split"); }
  std::string operator()(const DivideRelation& r) const { return tiled(r.parent, r.outer, r.inner, "divided"); }
  std::string operator()(const CollapseRelation& r) const {
    if (r.outer != v && r.inner != v) return "";
    return fmt::format("{} was collapsed into {}", v.name, r.fused.name);
  }
  std::string operator()(const RotateRelation& r) const {
    return r.target == v ? fmt::format("{} was rotated into {}", v.name, r.result.name) : "";
  }
  template <class Mark>
  std::string operator()(const Mark&) const {
    return "";
  }
  std::string tiled(const IndexVar& parent, const IndexVar& outer, const IndexVar& inner, const char* how) const {
    if (parent != v) return "";
    return fmt::format("{} was {} into {} and {}", v.name, how, outer.name, inner.name);
  }
};

// Says why a mark on `v` forbids replacing it; empty if it does not.
struct Hold {
  const IndexVar& v;

  std::string operator()(const DistributeRelation& r) const { return r.variable == v ? "is distributed" : ""; }
  std::string operator()(const CommunicateRelation& r) const {
    return r.at == v ? fmt::format("is where {} is communicated", r.tensor.text) : "";
  }
  std::string operator()(const SubstituteRelation& r) const {
    bool in = std::find(r.variables.begin(), r.variables.end(), v) != r.variables.end();
    return in ? fmt::format("is part of the substituted {}", r.kernel.text) : "";
  }
  std::string operator()(const ParallelizeRelation& r) const { return r.variable == v ? "is parallelized" : ""; }
  template <class Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

}  // namespace

void refuse(const Nest& nest, const SourceSpan& span, const std::string& message) {
  std::string loops = loop_nest_text(to_stmt(Nest{nest.loops, nest.body, nest.relations}));
  std::string indented;
  for (char c : loops) indented += c == '\n' ? std::string("\n    ") : std::string(1, c);
  while (!indented.empty() && (indented.back() == ' ' || indented.back() == '\n')) indented.pop_back();
  throw Error(message, span, "the loops here are\n    " + indented);
}

void require_loop(const Nest& nest, const IndexVar& v, const std::string& command) {
  if (nest.has_loop(v)) return;
  for (const Relation& r : nest.relations) {
    std::string gone = std::visit(Replacement{v}, r);
    if (!gone.empty()) refuse(nest, v.span, fmt::format("{}: there is no loop {} any more: {}", command, v.name, gone));
  }
  refuse(nest, v.span, fmt::format("{}: there is no loop {}", command, v.name));
}

void require_new(const Nest& nest, const IndexVar& v, const std::string& command) {
  std::vector<IndexVar> used = all_variables(nest);
  if (std::find(used.begin(), used.end(), v) == used.end()) return;
  refuse(nest, v.span,
         fmt::format("{}: {} is a variable of this statement already; choose a new name", command, v.name));
}

void require_distinct(const Nest& nest, const std::vector<IndexVar>& names, const std::string& command) {
  std::set<std::string> seen;
  for (const IndexVar& v : names) {
    if (!seen.insert(v.name).second) refuse(nest, v.span, fmt::format("{}: {} is named twice", command, v.name));
  }
}

void require_replaceable(const Nest& nest, const IndexVar& v, const std::string& command) {
  for (const Relation& r : nest.relations) {
    std::string held = std::visit(Hold{v}, r);
    if (held.empty()) continue;
    refuse(
        nest, v.span,
        fmt::format("{}: loop {} {} and cannot be replaced; put this command before that one", command, v.name, held));
  }
}

std::vector<IndexVar> all_variables(const Nest& nest) {
  const Assignment& a = assignment_of(nest);
  std::vector<IndexVar> all = variables(Statement{a.lhs, a.op, a.rhs, {}});
  for (const Relation& relation : nest.relations) {
    if (const auto* s = std::get_if<SplitRelation>(&relation)) all.insert(all.end(), {s->outer, s->inner});
    if (const auto* d = std::get_if<DivideRelation>(&relation)) all.insert(all.end(), {d->outer, d->inner});
    if (const auto* c = std::get_if<CollapseRelation>(&relation)) all.push_back(c->fused);
    if (const auto* r = std::get_if<RotateRelation>(&relation)) all.push_back(r->result);
  }
  return all;
}

std::vector<IndexVar> origins(const Nest& nest, const IndexVar& v) {
  std::vector<IndexVar> found{v};
  for (auto relation = nest.relations.rbegin(); relation != nest.relations.rend(); ++relation) {
    std::vector<IndexVar> next;
    for (const IndexVar& f : found) {
      const auto* s = std::get_if<SplitRelation>(&*relation);
      const auto* d = std::get_if<DivideRelation>(&*relation);
      const auto* c = std::get_if<CollapseRelation>(&*relation);
      const auto* r = std::get_if<RotateRelation>(&*relation);
      if (s && (f == s->outer || f == s->inner)) {
        next.push_back(s->parent);
      } else if (d && (f == d->outer || f == d->inner)) {
        next.push_back(d->parent);
      } else if (c && f == c->fused) {
        next.insert(next.end(), {c->outer, c->inner});
      } else if (r && f == r->result) {
        next.push_back(r->target);
      } else {
        next.push_back(f);
      }
    }
    found = std::move(next);
  }
  std::vector<IndexVar> unique;
  for (const IndexVar& f : found) {
    if (std::find(unique.begin(), unique.end(), f) == unique.end()) unique.push_back(f);
  }
  return unique;
}

const Assignment& assignment_of(const Nest& nest) {
  const auto* a = nest.body.as<Assignment>();
  if (!a) throw InternalError("the body of a nest is not an assignment");
  return *a;
}

}  // namespace distal::core
