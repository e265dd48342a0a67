#include "schedule/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace distal::core {

namespace {

// Says how a relation replaced loop `v`, such as "i was split into io and ii"; empty if it did not.
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

// Says why a relation forbids a command to replace loop `v`, such as "is distributed"; empty if it does not.
struct Obstacle {
  const IndexVar& v;

  std::string operator()(const DistributeRelation& r) const { return r.variable == v ? "is distributed" : ""; }
  std::string operator()(const CommunicateRelation& r) const {
    return r.at == v ? fmt::format("is where {} is communicated", r.tensor.text) : "";
  }
  std::string operator()(const SubstituteRelation& r) const {
    bool in = std::find(r.variables.begin(), r.variables.end(), v) != r.variables.end();
    return in ? fmt::format("is part of the substituted {}", r.kernel.text) : "";
  }
  template <class Other>
  std::string operator()(const Other& r) const {
    std::string mark = mark_on(r, v);
    return mark.empty() ? "" : "is " + mark;
  }
};

}  // namespace

void refuse(const Nest& nest, const SourceSpan& span, const std::string& message) {
  std::string loops = loop_nest_text(to_stmt(nest));
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
  if (contains(all_loops(nest.body), v)) {
    refuse(nest, v.span,
           fmt::format("{}: loop {} is inside a precompute; this command takes loops outside of it", command, v.name));
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
    std::string why = std::visit(Obstacle{v}, r);
    if (why.empty()) continue;
    refuse(
        nest, v.span,
        fmt::format("{}: loop {} {} and cannot be replaced; put this command before that one", command, v.name, why));
  }
}

void require_plain_body(const Nest& nest, const IndexVar& v, const std::string& command) {
  if (nest.body.as<Assignment>()) return;
  refuse(nest, v.span,
         fmt::format("{}: a workspace is filled inside loop {}; name a loop of its producer or of its consumer",
                     command, v.name));
}

void require_whole_sum(const Nest& nest, const PrecomputeCommand& command, const std::vector<IndexVar>& sums) {
  std::vector<Term> terms = additive_terms(command.expr);
  if (terms.size() == 1) return;
  for (const Term& term : terms) {
    for (const IndexVar& v : sums) {
      if (contains(variables(term.expr), v)) continue;
      refuse(nest, command.workspace.span,
             fmt::format("precompute: the sum over {0} includes {1}, which does not use {0}; precompute only the "
                         "addends that use {0}",
                         v.name, to_string(term.expr)));
    }
  }
}

std::vector<IndexVar> all_variables(const Nest& nest) {
  std::vector<IndexVar> all = nest.enclosing_loops;
  for (const Assignment& a : assignments(nest.body)) {
    for (IndexVar& v : variables(Statement{a.lhs, a.op, a.rhs, {}})) all.push_back(std::move(v));
  }
  for (const Relation& relation : nest.relations) {
    if (const auto* s = std::get_if<SplitRelation>(&relation)) all.insert(all.end(), {s->outer, s->inner});
    if (const auto* d = std::get_if<DivideRelation>(&relation)) all.insert(all.end(), {d->outer, d->inner});
    if (const auto* c = std::get_if<CollapseRelation>(&relation)) all.push_back(c->fused);
    if (const auto* r = std::get_if<RotateRelation>(&relation)) all.push_back(r->result);
    if (const auto* p = std::get_if<PrecomputeRelation>(&relation)) {
      all.insert(all.end(), p->originals.begin(), p->originals.end());
      all.insert(all.end(), p->copies.begin(), p->copies.end());
      all.insert(all.end(), p->sums.begin(), p->sums.end());
    }
  }
  return all;
}

namespace {

// The origins of `v`, derived from the first `count` relations only.
std::vector<IndexVar> origins_before(const std::vector<Relation>& relations, size_t count, const IndexVar& v) {
  for (size_t i = count; i-- > 0;) {
    std::vector<IndexVar> from;
    if (const auto* s = std::get_if<SplitRelation>(&relations[i]); s && (v == s->outer || v == s->inner)) {
      from = {s->parent};
    } else if (const auto* d = std::get_if<DivideRelation>(&relations[i]); d && (v == d->outer || v == d->inner)) {
      from = {d->parent};
    } else if (const auto* c = std::get_if<CollapseRelation>(&relations[i]); c && v == c->fused) {
      from = {c->outer, c->inner};
    } else if (const auto* r = std::get_if<RotateRelation>(&relations[i]); r && v == r->result) {
      from = {r->target};
    } else if (const auto* p = std::get_if<PrecomputeRelation>(&relations[i]); p && contains(p->copies, v)) {
      // The origins of a copy are the copies of its original's origins.
      size_t at = static_cast<size_t>(std::find(p->copies.begin(), p->copies.end(), v) - p->copies.begin());
      std::vector<IndexVar> copies;
      for (const IndexVar& o : origins_before(relations, i, p->originals[at])) copies.push_back(p->copy_of(o));
      return copies;
    } else {
      continue;
    }
    std::vector<IndexVar> out;
    for (const IndexVar& f : from) {
      for (IndexVar& o : origins_before(relations, i, f)) {
        if (!contains(out, o)) out.push_back(std::move(o));
      }
    }
    return out;
  }
  return {v};
}

}  // namespace

std::vector<IndexVar> origins(const Nest& nest, const IndexVar& v) {
  return origins_before(nest.relations, nest.relations.size(), v);
}

bool contains(const std::vector<IndexVar>& variables, const IndexVar& v) {
  return std::find(variables.begin(), variables.end(), v) != variables.end();
}

const SubstituteRelation* substitution_of(const Nest& nest) {
  for (const Relation& r : nest.relations) {
    if (const auto* s = std::get_if<SubstituteRelation>(&r); s && nest.has_loop(s->variables[0])) return s;
  }
  return nullptr;
}

std::string mark_on(const Relation& relation, const IndexVar& v) {
  if (const auto* p = std::get_if<ParallelizeRelation>(&relation); p && p->variable == v) return "parallelized";
  if (const auto* u = std::get_if<UnrollRelation>(&relation); u && u->variable == v) return "unrolled";
  if (const auto* x = std::get_if<VectorizeRelation>(&relation); x && x->variable == v) return "vectorized";
  return "";
}

const PrecomputeRelation* workspace_of(const std::vector<Relation>& relations, const std::string& name) {
  for (const Relation& r : relations) {
    if (const auto* p = std::get_if<PrecomputeRelation>(&r); p && p->workspace.text == name) return p;
  }
  return nullptr;
}

std::vector<IndexVar> used_variables(const std::vector<Relation>& relations, const Expr& expr) {
  std::vector<IndexVar> out = variables(expr);
  for (const Access& access : accesses(expr)) {
    const PrecomputeRelation* p = workspace_of(relations, access.tensor);
    if (!p) continue;
    for (const IndexVar& v : p->fixed) {
      if (!contains(out, v)) out.push_back(v);
    }
  }
  return out;
}

std::vector<IndexVar> sums_of(const std::vector<Relation>& relations, const Assignment& assignment) {
  const PrecomputeRelation* p = workspace_of(relations, assignment.lhs.tensor);
  std::vector<IndexVar> out = used_variables(relations, assignment.rhs);
  std::erase_if(out,
                [&](const IndexVar& v) { return p ? !contains(p->sums, v) : contains(assignment.lhs.indices, v); });
  return out;
}

const Assignment& assignment_of(const Nest& nest) {
  const auto* a = nest.body.as<Assignment>();
  if (!a) throw InternalError("the body of a nest is not an assignment");
  return *a;
}

}  // namespace distal::core
