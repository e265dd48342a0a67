#include "lower/make_leaf.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/bounds.h"
#include "schedule/checks.h"
#include "schedule/kernel_shape.h"

namespace distal::core {

namespace {

class LeafBuilder {
 public:
  LeafBuilder(const Nest& nest, const PlacedNest& placed, const std::vector<Acquire>& acquires)
      : nest_(nest),
        placed_(placed),
        acquires_(acquires),
        workspaces_(relations_of<PrecomputeRelation>(nest.relations)) {
    for (const Assignment& a : assignments(nest.body)) {
      std::vector<Access> all = accesses(a.rhs);
      all.push_back(a.lhs);
      for (const Access& access : all) tensor_accesses_ += workspace_of(nest.relations, access.tensor) ? 0 : 1;
    }
  }

  Leaf run(int depth) {
    leaf_.workspaces.resize(workspaces_.size());
    std::vector<int> loops;
    int count = static_cast<int>(placed_.loops.size());
    for (int p = depth + 1; p < count; ++p) loops.push_back(placed_.loops[p].variable);
    LeafPart root = part(nest_, loops);
    leaf_.root = std::move(root);
    return std::move(leaf_);
  }

 private:
  int number(const IndexVar& v) const { return find_variable(placed_.space, v.name); }

  std::vector<int> numbers(const std::vector<IndexVar>& variables) const {
    std::vector<int> out;
    for (const IndexVar& v : variables) out.push_back(number(v));
    return out;
  }

  LeafPart part(const Nest& nest, std::vector<int> loops) {
    LeafPart out{std::move(loops), {}, std::vector<LeafPart>{}, std::nullopt};
    add_marks(nest, out);
    if (nest.body.as<Assignment>()) {
      out.body = compute(nest);
      return out;
    }
    // The consumer comes first, so that access 0 of the leaf is the statement's output.
    LeafPart consumer = inner_part(side_of(nest, WhereSide::Consumer));
    LeafPart producer = inner_part(side_of(nest, WhereSide::Producer));
    const Access filled = assignments(nest.body.as<Where>()->producer)[0].lhs;
    producer.fills = workspace_number(filled.tensor);
    leaf_.workspaces[*producer.fills] = {filled.tensor, numbers(filled.indices), all_loops(producer)};
    out.body = std::vector<LeafPart>{std::move(producer), std::move(consumer)};
    return out;
  }

  LeafPart inner_part(const Nest& nest) { return part(nest, numbers(nest.loops)); }

  std::optional<int> workspace_number(const std::string& name) const {
    for (size_t w = 0; w < workspaces_.size(); ++w) {
      if (workspaces_[w]->workspace.text == name) return static_cast<int>(w);
    }
    return std::nullopt;
  }

  // ---- marks ----

  void add_marks(const Nest& nest, LeafPart& out) const {
    for (const auto* mark : relations_of<MarkRelation>(nest.relations)) {
      if (!nest.has_loop(mark->variable)) continue;
      check_mark(nest, mark->variable, mark->code);
      out.marks.push_back({mark->code, number(mark->variable), mark->variable.span});
    }
  }

  void check_mark(const Nest& nest, const IndexVar& loop, const LoopCode& code) const {
    switch (code.kind) {
      case LoopCode::Kind::Unroll: return;
      case LoopCode::Kind::Parallel:
        if (code.race == OutputRace::None) require_own_elements(nest, loop, "parallelize");
        if (code.race == OutputRace::Reduction) {
          require_one_element(nest, loop, "parallelize",
                              fmt::format("reorder it outwards, or say parallelize({}, atomics)", loop.name));
        }
        return;
      case LoopCode::Kind::Vectorize:
        if (loop != nest.loops.back()) {
          refuse(nest, loop.span,
                 fmt::format("vectorize: loop {} is not the innermost one; reorder it there, or vectorize {}",
                             loop.name, nest.loops.back().name));
        }
        if (!contains(assignment_of(nest).lhs.indices, origins(nest, loop)[0])) {
          return require_one_element(nest, loop, "vectorize", "vectorize another loop");
        }
        return require_own_elements(nest, loop, "vectorize");
    }
  }

  // Different iterations of `loop` must touch different elements of the output while the enclosing loops are fixed. A
  // rotation by a loop further in breaks this: over time every iteration touches every element.
  void require_own_elements(const Nest& nest, const IndexVar& loop, const char* command) const {
    std::vector<bool> known(static_cast<size_t>(placed_.space.size()), false);
    for (const IndexVar& v : nest.enclosing_loops) known[number(v)] = true;
    for (size_t p = 0; p < nest.position(loop); ++p) known[number(nest.loops[p])] = true;
    known = with_recovered(placed_.space.derivations, std::move(known));
    const Assignment& a = assignment_of(nest);
    for (const IndexVar& index : a.lhs.indices) known[number(index)] = true;
    if (determined_by(placed_.space.derivations, known)[number(loop)]) return;
    refuse(
        nest, loop.span,
        fmt::format("{}: loop {} is rotated by a loop inside of it, so its iterations reach the same elements of {} at "
                    "once; reorder that loop outside of {}, or {} another loop",
                    command, loop.name, a.lhs.tensor, loop.name, command));
  }

  // A private sum of a thread or of a vector lane is one number, so all iterations of `loop` must add to one element of
  // the output.
  void require_one_element(const Nest& nest, const IndexVar& loop, const char* command, const std::string& help) const {
    const Assignment& a = assignment_of(nest);
    for (size_t p = nest.position(loop); p < nest.loops.size(); ++p) {
      for (const IndexVar& index : a.lhs.indices) {
        std::vector<bool> from = recovered_from(placed_.space.derivations, placed_.space.size(), number(index));
        if (!from[number(nest.loops[p])]) continue;
        refuse(nest, loop.span,
               fmt::format("{}: loop {} goes from element to element of {}, so there is no single sum over {}; {}",
                           command, nest.loops[p].name, a.lhs.tensor, loop.name, help));
      }
    }
  }

  // ---- the assignment ----

  Compute compute(const Nest& nest) {
    const Assignment& a = assignment_of(nest);
    Compute out{a, a.op == AssignOp::Accumulate, {}, {}, std::nullopt};
    out.operands.push_back(operand(a.lhs, true));
    for (const Access& access : accesses(a.rhs)) out.operands.push_back(operand(access, false));
    out.terms = terms(nest, a);
    if (const SubstituteRelation* s = substitution_of(nest)) out.library = library(nest, *s);
    return out;
  }

  LeafOperand operand(const Access& access, bool output) {
    LeafOperand out{numbers(access.indices), 0};
    if (std::optional<int> w = workspace_number(access.tensor)) {
      out.number = tensor_accesses_ + *w;
      return out;
    }
    out.number = static_cast<int>(leaf_.accesses.size());
    leaf_.accesses.push_back(leaf_access(access, output));
    return out;
  }

  LeafAccess leaf_access(const Access& access, bool output) const {
    AccessIndices indices = access_indices(placed_.space, access);
    LeafAccess out{indices.variables, 0, 0};
    // The last acquire of the tensor is the innermost one, whose memory the leaf uses.
    for (const Acquire& a : acquires_) {
      bool writes = a.privilege != Privilege::Read;
      if (a.tensor != access.tensor || writes != output) continue;
      out.acquire = a.id;
      out.rect = static_cast<int>(std::find(a.accesses.begin(), a.accesses.end(), indices) - a.accesses.begin());
    }
    return out;
  }

  std::vector<LeafTerm> terms(const Nest& nest, const Assignment& a) const {
    std::vector<IndexVar> sums = sums_of(nest.relations, a);
    std::vector<LeafTerm> out;
    int operand = 1;  // 0 is the output
    for (const Term& term : additive_terms(a.rhs)) {
      LeafTerm made{term.negated, term.expr, {}, operand};
      operand += static_cast<int>(accesses(term.expr).size());
      std::vector<IndexVar> used = used_variables(nest.relations, term.expr);
      for (const IndexVar& v : sums) {
        if (!contains(used, v)) made.only_at_zero.push_back(number(v));
      }
      add_sums_of_workspaces(nest, a, term.expr, made.only_at_zero);
      out.push_back(std::move(made));
    }
    return out;
  }

  // If a loop around this nest runs over a part of a workspace's sum, the nest runs once for each of its iterations. A
  // term without the workspace contributes in the first of them only.
  void add_sums_of_workspaces(const Nest& nest, const Assignment& a, const Expr& term, std::vector<int>& zero) const {
    for (const Access& access : accesses(a.rhs)) {
      const PrecomputeRelation* w = workspace_of(nest.relations, access.tensor);
      if (!w) continue;
      std::vector<Access> in_term = accesses(term);
      if (std::find(in_term.begin(), in_term.end(), access) != in_term.end()) continue;
      std::vector<bool> known = known_in(nest);
      for (const IndexVar& v : sums_inside(*w)) add_zero(known, number(v), zero);
    }
  }

  // The variables that a workspace, and the workspaces that it is made from, sum over. They have the names that the
  // workspace's consumer uses.
  std::vector<IndexVar> sums_inside(const PrecomputeRelation& w) const {
    std::vector<IndexVar> out = w.sums;
    for (const Assignment& a : assignments(nest_.body)) {
      if (a.lhs.tensor != w.workspace.text) continue;
      for (const Access& access : accesses(a.rhs)) {
        const PrecomputeRelation* inner = workspace_of(nest_.relations, access.tensor);
        if (!inner) continue;
        for (IndexVar& v : sums_inside(*inner)) out.push_back(std::move(v));
      }
    }
    for (IndexVar& v : out) v = w.original_of(v);
    return out;
  }

  // Which variables have a value in the body of a nest: its loops, the enclosing loops, and variables recovered from
  // them.
  std::vector<bool> known_in(const Nest& nest) const {
    std::vector<bool> known(static_cast<size_t>(placed_.space.size()), false);
    for (const IndexVar& v : nest.enclosing_loops) known[number(v)] = true;
    for (const IndexVar& v : nest.loops) known[number(v)] = true;
    return with_recovered(placed_.space.derivations, std::move(known));
  }

  // Adds the variables to `zero` that must be 0 at the first iteration of `variable` that the nest runs: itself if it
  // is known, otherwise the known variables that it is recovered from.
  void add_zero(const std::vector<bool>& known, int variable, std::vector<int>& zero) const {
    if (known[variable]) {
      if (std::find(zero.begin(), zero.end(), variable) == zero.end()) zero.push_back(variable);
      return;
    }
    auto recovers = [&](const auto& d) {
      auto parents = d.parents();
      if (std::find(parents.begin(), parents.end(), variable) == parents.end()) return;
      for (int child : d.children()) add_zero(known, child, zero);
    };
    for (const Derivation& derivation : placed_.space.derivations) std::visit(recovers, derivation);
  }

  // ---- the kernel of a library ----

  LibraryLeaf library(const Nest& nest, const SubstituteRelation& s) const {
    KernelShape shape = kernel_shape(nest, s.kernel.text, s.variables);
    require_one_call(nest, s, shape);
    LibraryLeaf out{s.kernel.text, {}};
    for (const KernelIndex& i : shape) out.indices.push_back({i.role, number(i.variable)});
    return out;
  }

  // A kernel works on contiguous ranges of its indices, so the loops outside of it must leave such ranges. All other
  // indices must be fixed during the call, which a rotation by a loop of the kernel prevents.
  void require_one_call(const Nest& nest, const SubstituteRelation& s, const KernelShape& shape) const {
    std::vector<Interval<IntExpr>> intervals;
    for (int v = 0; v < placed_.space.size(); ++v) {
      bool runs = contains(s.variables, IndexVar{placed_.space.names[v], {}});
      intervals.push_back(runs ? full(placed_.space.extents[v]) : point(IntExpr::name(placed_.space.names[v])));
    }
    bounds(placed_.space, intervals);
    const Assignment& a = assignment_of(nest);
    for (const IndexVar& v : variables(Statement{a.lhs, a.op, a.rhs, {}})) {
      bool runs = std::any_of(shape.begin(), shape.end(), [&](const KernelIndex& i) { return i.variable == v; });
      const Interval<IntExpr>& interval = intervals[number(v)];
      if (runs ? interval.exact : interval.point) continue;
      refuse(
          nest, s.kernel.span,
          runs ? fmt::format("substitute: the loops of the kernel do not run over a contiguous range of {}", v.name)
               : fmt::format("substitute: index {} is rotated by a loop of the kernel, so it changes inside the kernel",
                             v.name));
    }
  }

  const Nest& nest_;
  const PlacedNest& placed_;
  const std::vector<Acquire>& acquires_;
  std::vector<const PrecomputeRelation*> workspaces_;
  int tensor_accesses_ = 0;
  Leaf leaf_;
};

}  // namespace

Leaf make_leaf(const Nest& nest, const PlacedNest& placed, const std::vector<Acquire>& acquires, int depth) {
  return LeafBuilder(nest, placed, acquires).run(depth);
}

}  // namespace distal::core
