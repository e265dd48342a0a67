#include "lower/lower.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/bounds.h"
#include "lang/validate.h"
#include "lower/placed_nest.h"
#include "schedule/checks.h"
#include "schedule/gemm_shape.h"
#include "schedule/schedule.h"

namespace distal::core {

namespace {

// An acquire and the position in the nest that it stands directly inside of; -1 is outside of all loops.
struct PositionedAcquire {
  Acquire acquire;
  int position = -1;
};

class Lowering {
 public:
  Lowering(const Module& module, const ScheduledStatement& scheduled, const Stmt& concrete)
      : scheduled_(scheduled),
        concrete_(concrete),
        nest_(nest_of(concrete)),
        assignment_(assignment_of(nest_)),
        placed_(place_nest(nest_, variable_extents(module, scheduled.statement), machine_of(module, scheduled))) {
    for (const IndexVar& v : reduction_variables(scheduled.statement)) reductions_.push_back(number(v));
    for (const Relation& r : nest_.relations) {
      const auto* s = std::get_if<SubstituteRelation>(&r);
      if (!s) continue;
      kernel_loops_ = s->variables;
      kernel_name_ = s->kernel;
    }
  }

  Stage run() {
    add_acquires();
    int depth = program_depth();
    Leaf leaf = make_leaf(depth);
    NodePtr body = std::make_shared<Node>(Node{std::move(leaf)});
    for (int position = depth; position >= -1; --position) {
      body = wrap_acquires(position, std::move(body));
      if (position >= 0) body = wrap_loop(position, std::move(body));
    }
    if (scheduled_.statement.op == AssignOp::Assign) {
      NodePtr init = std::make_shared<Node>(Node{Init{assignment_.lhs.tensor}});
      body = std::make_shared<Node>(Node{Chain{{init, body}}});
    }
    return Stage{scheduled_, concrete_, placed_.machine, placed_.space, placed_.held, everywhere(), body};
  }

 private:
  int number(const IndexVar& v) const { return find_variable(placed_.space, v.name); }
  int count() const { return static_cast<int>(placed_.loops.size()); }
  const PlacedLoop& loop(int position) const { return placed_.loops[position]; }

  bool is_made_from_reduction(int variable) const {
    std::vector<bool> from = made_from(placed_.space.derivations, placed_.space.size(), variable);
    return std::any_of(reductions_.begin(), reductions_.end(), [&](int r) { return from[r]; });
  }

  // Whether the rectangles of the accesses move with the variable.
  bool influences(int variable, const std::vector<std::vector<int>>& accesses) const {
    for (const auto& indices : accesses) {
      for (int index : indices) {
        if (recovered_from(placed_.space.derivations, placed_.space.size(), index)[variable]) return true;
      }
    }
    return false;
  }

  int position_of_loop(const std::string& name) const {
    for (int p = 0; p < count(); ++p) {
      if (loop(p).name == name) return placed_.end_of_launch(p);
    }
    throw InternalError("no loop " + name);
  }

  // Where a tensor that no communicate names is acquired: the innermost loop that the program still steps through.
  int default_position() const {
    int last = count() - 1 - static_cast<int>(kernel_loops_.size());
    return last < 0 ? -1 : placed_.end_of_launch(last);
  }

  // How many machine levels stand still for an acquire here. A launch of a lower level further in means that the
  // acquiring processor is one of the level above it.
  int place_levels(int position) const {
    for (int level = 1; level < placed_.levels(); ++level) {
      for (int p = position + 1; p < count(); ++p) {
        if (loop(p).distributed && loop(p).level == level) return level;
      }
    }
    return placed_.levels();
  }

  // A processor keeps a rectangle until it asks for a different one, so an acquire may stand outside of the loops
  // that do not move its rectangles: the same transfers, and fewer steps.
  int hoist(int position, const std::vector<std::vector<int>>& accesses) const {
    while (position >= 0 && !loop(position).distributed && !influences(loop(position).variable, accesses)) --position;
    return position;
  }

  void add_acquires() {
    add_acquire(assignment_.lhs.tensor, {assignment_.lhs}, true);
    std::vector<std::string> done{assignment_.lhs.tensor};
    std::vector<Access> right = accesses(assignment_.rhs);
    for (const Access& access : right) {
      if (std::find(done.begin(), done.end(), access.tensor) != done.end()) continue;
      done.push_back(access.tensor);
      std::vector<Access> same;
      std::copy_if(right.begin(), right.end(), std::back_inserter(same),
                   [&](const Access& a) { return a.tensor == access.tensor; });
      add_acquire(access.tensor, same, false);
    }
  }

  void add_acquire(const std::string& tensor, const std::vector<Access>& all, bool output) {
    Acquire acquire;
    acquire.tensor = tensor;
    for (const Access& access : all) {
      std::vector<int> indices;
      for (const IndexVar& v : access.indices) indices.push_back(number(v));
      auto& list = acquire.accesses;
      if (std::find(list.begin(), list.end(), indices) == list.end()) list.push_back(indices);
    }
    const CommunicateRelation* said = nullptr;
    for (const Relation& r : nest_.relations) {
      if (const auto* c = std::get_if<CommunicateRelation>(&r); c && c->tensor.text == tensor) said = c;
    }
    acquire.by_default = !said;
    int asked = said ? position_of_loop(said->at.name) : default_position();
    acquire.at = asked >= 0 ? loop(asked).name : "";
    if (said) acquire.at = said->at.name;
    finish(acquire, hoist(asked, acquire.accesses), output);
  }

  void finish(Acquire acquire, int position, bool output) {
    acquire.place_levels = place_levels(position);
    locate(acquire, position);
    if (output) acquire.privilege = privilege(acquire, position);
    bool inner_partials = output && needs_inner_partials(acquire);
    int id = push(acquire, position);
    if (inner_partials) add_inner_partials(id, acquire.accesses);
  }

  int push(Acquire acquire, int position) {
    acquire.id = static_cast<int>(acquires_.size());
    acquires_.push_back({std::move(acquire), position});
    return acquires_.back().acquire.id;
  }

  // Fills in the variables that stand still at a position, and the rectangles under them.
  void locate(Acquire& acquire, int position) const {
    std::vector<Interval<IntExpr>> intervals(static_cast<size_t>(placed_.space.size()));
    for (int p = 0; p < count(); ++p) {
      const PlacedLoop& l = loop(p);
      bool fixed = l.distributed ? l.level < acquire.place_levels : p <= position;
      if (fixed) acquire.fixed.push_back(l.variable);
      IntExpr name = IntExpr::name(placed_.space.names[l.variable]);
      intervals[l.variable] = fixed ? Interval<IntExpr>{name, name + IntExpr(1), true, true}
                                    : bounds_detail::full(placed_.space.extents[l.variable]);
    }
    bounds(placed_.space, intervals);
    for (const auto& indices : acquire.accesses) {
      SymbolicRect rect;
      std::vector<int> seen;
      for (int v : indices) {
        rect.lo.push_back(intervals[v].lo);
        rect.hi.push_back(intervals[v].hi);
        acquire.exact = acquire.exact && intervals[v].exact;
        // An index that stands twice touches a diagonal, not the square around it.
        bool repeated = std::find(seen.begin(), seen.end(), v) != seen.end();
        if (repeated && !intervals[v].point) acquire.exact = false;
        seen.push_back(v);
      }
      acquire.rects.push_back(std::move(rect));
    }
  }

  // A plain write is enough only where nobody else, and no other time, adds to the same elements.
  Privilege privilege(const Acquire& acquire, int position) const {
    if (scheduled_.statement.op == AssignOp::Accumulate || !acquire.exact) return Privilege::Reduce;
    for (int p = 0; p < count(); ++p) {
      const PlacedLoop& l = loop(p);
      if (!is_made_from_reduction(l.variable)) continue;
      if (l.distributed && l.level < acquire.place_levels) return Privilege::Reduce;
      if (l.distributed || p > position) continue;
      // A sum in time stays in the acquired copy as long as the rectangle does not move inside of it.
      for (int q = p; q <= position; ++q) {
        if (!loop(q).distributed && influences(loop(q).variable, acquire.accesses)) return Privilege::Reduce;
      }
    }
    return Privilege::Write;
  }

  // The parts of a processor share the output it acquired; where two of them may add to one element, each gets a
  // partial of its own. Their launches may also stand outside of the acquire.
  bool needs_inner_partials(const Acquire& acquire) const {
    if (acquire.place_levels == placed_.levels()) return false;
    for (const PlacedLoop& l : placed_.loops) {
      if (l.distributed && l.level >= acquire.place_levels && is_made_from_reduction(l.variable)) return true;
    }
    Acquire inner;
    inner.accesses = acquire.accesses;
    inner.place_levels = placed_.levels();
    locate(inner, last_launch_position());
    return !inner.exact;
  }

  int last_launch_position() const {
    int last = -1;
    for (int p = 0; p < count(); ++p) {
      if (loop(p).distributed) last = placed_.end_of_launch(p);
    }
    return last;
  }

  void add_inner_partials(int parent, const std::vector<std::vector<int>>& accesses) {
    Acquire inner;
    inner.tensor = assignment_.lhs.tensor;
    inner.privilege = Privilege::Reduce;
    inner.accesses = accesses;
    inner.parent = parent;
    inner.place_levels = placed_.levels();
    int position = last_launch_position();
    inner.at = loop(position).name;
    locate(inner, position);
    push(std::move(inner), position);
  }

  // Several processors may do the same only where each writes a copy of its own: not where the output is a partial, to
  // which each would add, nor where it is shared by the processors of a lower level.
  std::vector<EverywhereDimension> everywhere() const {
    std::vector<EverywhereDimension> out;
    for (const EverywhereDimension& d : placed_.everywhere) {
      bool each_has_its_own = std::all_of(acquires_.begin(), acquires_.end(), [&](const PositionedAcquire& a) {
        return a.acquire.privilege != Privilege::Reduce && d.level < a.acquire.place_levels;
      });
      if (each_has_its_own) out.push_back(d);
    }
    return out;
  }

  // The program steps through every loop down to the last launch and the innermost acquire; the leaf has the rest.
  int program_depth() const {
    int depth = last_launch_position();
    for (const PositionedAcquire& a : acquires_) depth = std::max(depth, a.position);
    return depth;
  }

  NodePtr wrap_acquires(int position, NodePtr body) {
    for (auto a = acquires_.rbegin(); a != acquires_.rend(); ++a) {
      if (a->position != position) continue;
      Acquire acquire = a->acquire;
      acquire.body = std::move(body);
      body = std::make_shared<Node>(Node{std::move(acquire)});
    }
    return body;
  }

  NodePtr wrap_loop(int position, NodePtr body) {
    const PlacedLoop& l = loop(position);
    if (!l.distributed) return std::make_shared<Node>(Node{Loop{l.variable, std::move(body)}});
    LaunchDimension dimension{l.variable, l.level, l.dimension};
    // Directly nested distributed loops of one level flatten into one launch.
    if (const auto* inner = std::get_if<Launch>(&body->value); inner && inner->dimensions[0].level == l.level) {
      Launch launch = *inner;
      launch.dimensions.insert(launch.dimensions.begin(), dimension);
      return std::make_shared<Node>(Node{std::move(launch)});
    }
    return std::make_shared<Node>(Node{Launch{{dimension}, std::move(body)}});
  }

  Leaf make_leaf(int depth) const {
    Leaf leaf{{}, assignment_, false, {}, {}, std::nullopt};
    for (int p = depth + 1; p < count(); ++p) leaf.loops.push_back(loop(p).variable);
    leaf.accumulate = assignment_.op == AssignOp::Accumulate;
    leaf.accesses.push_back(leaf_access(assignment_.lhs, true));
    for (const Access& access : accesses(assignment_.rhs)) leaf.accesses.push_back(leaf_access(access, false));
    for (const Relation& r : nest_.relations) {
      if (const auto* p = std::get_if<ParallelizeRelation>(&r)) leaf.parallel.push_back(parallel_loop(leaf, *p));
    }
    if (!kernel_loops_.empty()) leaf.gemm = gemm_leaf(leaf);
    return leaf;
  }

  LeafAccess leaf_access(const Access& access, bool output) const {
    LeafAccess out;
    for (const IndexVar& v : access.indices) out.indices.push_back(number(v));
    // The last acquire of the tensor is the innermost one: the one whose memory the leaf touches.
    for (const PositionedAcquire& a : acquires_) {
      bool writes = a.acquire.privilege != Privilege::Read;
      if (a.acquire.tensor != access.tensor || writes != output) continue;
      out.acquire = a.acquire.id;
      const auto& list = a.acquire.accesses;
      out.rect = static_cast<int>(std::find(list.begin(), list.end(), out.indices) - list.begin());
    }
    return out;
  }

  int parallel_loop(const Leaf& leaf, const ParallelizeRelation& p) const {
    int v = number(p.variable);
    if (std::find(leaf.loops.begin(), leaf.loops.end(), v) != leaf.loops.end()) return v;
    refuse(nest_, p.variable.span,
           fmt::format("parallelize: tensors are communicated inside loop {}, so its iterations are steps of the "
                       "processor; parallelize a loop below every communicate",
                       p.variable.name));
  }

  GemmLeaf gemm_leaf(const Leaf& leaf) const {
    GemmShape shape = gemm_shape(nest_, kernel_loops_);
    require_one_multiply(shape);
    GemmLeaf out{number(shape.rows), number(shape.columns), number(shape.sum), 0, 0};
    for (int i = 1; i < static_cast<int>(leaf.accesses.size()); ++i) {
      const auto& indices = leaf.accesses[i].indices;
      bool has_rows = std::find(indices.begin(), indices.end(), out.rows) != indices.end();
      (has_rows ? out.left : out.right) = i;
    }
    return out;
  }

  // A kernel works on ranges of rows, columns and the sum, so the loops outside of it must leave whole ranges; and on
  // one matrix each, so every other index must stand still, which a rotation by one of its loops would not let it.
  void require_one_multiply(const GemmShape& shape) const {
    std::vector<Interval<IntExpr>> intervals(static_cast<size_t>(placed_.space.size()));
    int kernel = count() - static_cast<int>(kernel_loops_.size());
    for (int p = 0; p < count(); ++p) {
      IntExpr name = IntExpr::name(loop(p).name);
      intervals[loop(p).variable] = p < kernel ? Interval<IntExpr>{name, name + IntExpr(1), true, true}
                                               : bounds_detail::full(placed_.space.extents[loop(p).variable]);
    }
    bounds(placed_.space, intervals);
    for (const IndexVar& v : variables(scheduled_.statement)) {
      bool runs = v == shape.rows || v == shape.columns || v == shape.sum;
      const Interval<IntExpr>& interval = intervals[number(v)];
      if (runs ? interval.exact : interval.point) continue;
      refuse(nest_, kernel_name_.span,
             runs ? fmt::format("substitute: the loops of the kernel do not run over a contiguous range of {}", v.name)
                  : fmt::format("substitute: index {} is rotated by a loop of the kernel, so it changes inside of it",
                                v.name));
    }
  }

  const ScheduledStatement& scheduled_;
  const Stmt& concrete_;
  Nest nest_;
  Assignment assignment_;
  PlacedNest placed_;
  std::vector<int> reductions_;
  std::vector<IndexVar> kernel_loops_;
  Name kernel_name_;
  std::vector<PositionedAcquire> acquires_;
};

}  // namespace

Stage lower_statement(const Module& module, const ScheduledStatement& scheduled, const Stmt& concrete) {
  return Lowering(module, scheduled, concrete).run();
}

}  // namespace distal::core
