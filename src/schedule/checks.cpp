#include "schedule/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace distal::core {

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
    std::string how = replacement(r, v);
    if (how.empty()) continue;
    refuse(nest, v.span, fmt::format("{0}: there is no loop {1} any more: {1} was {2}", command, v.name, how));
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
    std::string why = obstacle(r, v);
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

void require_leaf_loop(const Nest& nest, const IndexVar& v, const std::string& command) {
  require_loop(nest, v, command);
  require_plain_body(nest, v, command);
  if (const LoopCode* code = code_of(nest, v)) {
    refuse(nest, v.span,
           fmt::format("{}: loop {} is {} already; split it to have both", command, v.name, code->done()));
  }
  require_replaceable(nest, v, command);
}

void require_outside_kernel(const Nest& nest, const SubstituteRelation& kernel, const CommunicateRelation& communicate,
                            const SourceSpan& span) {
  if (!contains(kernel.variables, communicate.at)) return;
  refuse(nest, span,
         fmt::format("communicate: loop {} is inside the loops that {} replaces; communicate {} at a loop above them",
                     communicate.at.name, kernel.kernel.text, communicate.tensor.text));
}

IndexVar made_up(const Nest& nest, const ScheduleContext& context, const IndexVar& from, const std::string& suffix,
                 const std::vector<IndexVar>& others) {
  IndexVar out{from.name + suffix, from.span};
  std::vector<IndexVar> used = all_variables(nest);
  auto is_param = [&](const Param& p) { return p.name == out.name; };
  const std::vector<Param>& params = context.module.params;
  while (contains(used, out) || contains(others, out) || contains(context.given, out) ||
         std::any_of(params.begin(), params.end(), is_param)) {
    out.name += "_";
  }
  return out;
}

void require_whole_sum(const Nest& nest, const Expr& part, const SourceSpan& span, const std::vector<IndexVar>& sums) {
  std::vector<Term> terms = additive_terms(part);
  if (terms.size() == 1) return;
  for (const Term& term : terms) {
    for (const IndexVar& v : sums) {
      if (contains(variables(term.expr), v)) continue;
      refuse(nest, span,
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
    for (IndexVar& v : children(relation)) all.push_back(std::move(v));
  }
  for (const auto* p : relations_of<PrecomputeRelation>(nest.relations)) {
    for (const auto* named : {&p->originals, &p->copies, &p->sums}) all.insert(all.end(), named->begin(), named->end());
  }
  return all;
}

namespace {

// The origins of `v`, derived from the first `count` relations only.
std::vector<IndexVar> origins_before(const std::vector<Relation>& relations, size_t count, const IndexVar& v) {
  for (size_t i = count; i-- > 0;) {
    if (const auto* p = std::get_if<PrecomputeRelation>(&relations[i]); p && contains(p->copies, v)) {
      // The origins of a copy are the copies of its original's origins.
      std::vector<IndexVar> copies;
      for (const IndexVar& o : origins_before(relations, i, p->original_of(v))) copies.push_back(p->copy_of(o));
      return copies;
    }
    if (!contains(children(relations[i]), v)) continue;
    std::vector<IndexVar> out;
    for (const IndexVar& parent : parents(relations[i])) {
      for (IndexVar& o : origins_before(relations, i, parent)) {
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

std::optional<IndexVar> summed_index(const Nest& nest, const IndexVar& loop) {
  const Assignment& a = assignment_of(nest);
  for (const IndexVar& from : origins(nest, loop)) {
    if (!contains(a.lhs.indices, from)) return from;
  }
  return std::nullopt;
}

const SubstituteRelation* substitution_of(const Nest& nest) {
  return find_relation<SubstituteRelation>(nest.relations,
                                           [&](const auto& s) { return nest.has_loop(s.variables[0]); });
}

const LoopCode* code_of(const Nest& nest, const IndexVar& v) {
  const auto* mark = find_relation<MarkRelation>(nest.relations, [&](const auto& m) { return m.variable == v; });
  return mark ? &mark->code : nullptr;
}

const PrecomputeRelation* workspace_of(const std::vector<Relation>& relations, const std::string& name) {
  return find_relation<PrecomputeRelation>(relations, [&](const auto& p) { return p.workspace.text == name; });
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
