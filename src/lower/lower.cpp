#include "lower/lower.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/bounds.h"
#include "lang/ranges.h"
#include "lower/make_leaf.h"
#include "lower/placed_nest.h"
#include "schedule/checks.h"
#include "schedule/schedule.h"
#include "support/text.h"

namespace distal::core {

namespace {

// An acquire, and the position of the loop that directly encloses it; -1 is outside of all loops.
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
        assignments_(assignments(nest_.body)),
        output_(assignments_[0].lhs),
        placed_(place_nest(nest_, scheduled.statement, variable_extents(module, scheduled.statement),
                           machine_of(module, scheduled), module.params)) {
    for (const IndexVar& v : reduction_variables(scheduled.statement)) reductions_.push_back(number(v));
    if (const SubstituteRelation* s = substitution_of(nest_)) kernel_loops_ = s->variables;
  }

  Stage run() {
    add_acquires();
    int depth = program_depth();
    find_blocks(depth);
    std::vector<Acquire> acquires;
    for (const PositionedAcquire& a : acquires_) acquires.push_back(a.acquire);
    Leaf leaf = make_leaf(nest_, placed_, acquires, depth);
    NodePtr body = std::make_shared<Node>(Node{std::move(leaf)});
    for (int position = depth; position >= -1; --position) {
      body = wrap_acquires(position, std::move(body));
      if (position >= 0) body = wrap_loop(position, std::move(body));
    }
    if (scheduled_.statement.op == AssignOp::Assign) {
      NodePtr init = std::make_shared<Node>(Node{Init{output_.tensor}});
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

  // Whether the rectangles of the accesses depend on the variable.
  bool influences(int variable, const std::vector<AccessIndices>& accesses) const {
    for (const AccessIndices& indices : accesses) {
      for (int index : indices.variables) {
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

  // The `place_levels` of an acquire at this position. If a launch of a lower level stands further in, a processor of
  // the level above it acquires.
  int place_levels(int position) const {
    for (int level = 1; level < placed_.levels(); ++level) {
      for (int p = position + 1; p < count(); ++p) {
        if (loop(p).distributed && loop(p).level == level) return level;
      }
    }
    return placed_.levels();
  }

  // Moves an acquire out of the loops that its rectangles do not depend on. A processor keeps a rectangle until it
  // acquires a different one, so the transfers are the same, in fewer steps.
  int hoist(int position, const std::vector<AccessIndices>& accesses) const {
    while (position >= 0 && !loop(position).distributed && !influences(loop(position).variable, accesses)) --position;
    return position;
  }

  void add_acquires() {
    add_acquire(output_.tensor, {output_}, true);
    std::vector<std::string> done{output_.tensor};
    std::vector<Access> right;
    for (const Assignment& a : assignments_) {
      for (Access& access : accesses(a.rhs)) right.push_back(std::move(access));
    }
    std::erase_if(right, [&](const Access& a) { return workspace_of(nest_.relations, a.tensor) != nullptr; });
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
      AccessIndices indices = access_indices(placed_.space, access);
      auto& list = acquire.accesses;
      if (std::find(list.begin(), list.end(), indices) == list.end()) list.push_back(indices);
    }
    const auto* communicate =
        find_relation<CommunicateRelation>(nest_.relations, [&](const auto& c) { return c.tensor.text == tensor; });
    acquire.by_default = !communicate;
    int requested = communicate ? position_of_loop(communicate->at.name) : last_launch_position();
    acquire.at = requested >= 0 ? loop(requested).name : "";
    if (communicate) acquire.at = communicate->at.name;
    finish(acquire, hoist(requested, acquire.accesses), output);
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

  std::vector<Interval<IntExpr>> all_running() const {
    std::vector<Interval<IntExpr>> intervals;
    for (const IntExpr& extent : placed_.space.extents) intervals.push_back(full(extent));
    return intervals;
  }

  std::vector<Interval<IntExpr>> intervals_with(const std::vector<int>& fixed) const {
    std::vector<Interval<IntExpr>> intervals = all_running();
    for (int v : fixed) intervals[v] = point(IntExpr::name(placed_.space.names[v]));
    bounds(placed_.space, intervals);
    return intervals;
  }

  // Fills in the variables that are fixed at a position, and the rectangles that follow from them.
  void locate(Acquire& acquire, int position) const {
    for (int p = 0; p < count(); ++p) {
      const PlacedLoop& l = loop(p);
      bool fixed = l.distributed ? l.level < acquire.place_levels : p <= position;
      if (fixed) acquire.fixed.push_back(l.variable);
    }
    std::vector<Interval<IntExpr>> intervals = intervals_with(acquire.fixed);
    for (const AccessIndices& indices : acquire.accesses) {
      SymbolicRect rect;
      for (size_t d = 0; d < indices.variables.size(); ++d) {
        const Interval<IntExpr>& interval = intervals[indices.variables[d]];
        require_printable(interval);
        IntExpr offset = indices.offsets.empty() ? IntExpr(0) : indices.offsets[d];
        rect.lo.push_back(interval.lo + offset);
        rect.hi.push_back(interval.hi + offset);
      }
      acquire.exact = acquire.exact && is_exact(indices.variables, intervals);
      acquire.rects.push_back(std::move(rect));
    }
  }

  // Whether an access touches all of its rectangle.
  static bool is_exact(const std::vector<int>& indices, const std::vector<Interval<IntExpr>>& intervals) {
    std::vector<int> seen;
    for (int v : indices) {
      // An access that uses an index twice touches a diagonal, not the square around it.
      bool repeated = std::find(seen.begin(), seen.end(), v) != seen.end();
      if (!intervals[v].exact || (repeated && !intervals[v].point)) return false;
      seen.push_back(v);
    }
    return true;
  }

  // Each time that the same loops are collapsed and split, the size of the bounds doubles. Refuses bounds that are too
  // large to print.
  void require_printable(const Interval<IntExpr>& interval) const {
    constexpr int64_t most = 10'000;
    if (interval.lo.operators() <= most && interval.hi.operators() <= most) return;
    throw Error(fmt::format("the schedule makes bounds of more than {} operators", with_commas(most)),
                scheduled_.statement.span, "split and collapse the same loops less often");
  }

  // A plain write suffices only if no other processor and no other step adds to the same elements.
  Privilege privilege(const Acquire& acquire, int position) const {
    if (accumulates(scheduled_.statement.op) || !acquire.exact) return Privilege::Reduce;
    for (int p = 0; p < count(); ++p) {
      const PlacedLoop& l = loop(p);
      if (!is_made_from_reduction(l.variable)) continue;
      if (l.distributed && l.level < acquire.place_levels) return Privilege::Reduce;
      if (l.distributed || p > position) continue;
      // A sum over several steps stays in the acquired copy as long as its rectangle does not change during these
      // steps.
      for (int q = p; q <= position; ++q) {
        if (!loop(q).distributed && influences(loop(q).variable, acquire.accesses)) return Privilege::Reduce;
      }
    }
    return Privilege::Write;
  }

  // Processors of a lower level share the output that their upper-level processor acquired. If two of them may add to
  // one element, each needs a partial of its own. This includes lower-level launches outside of the acquire.
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

  // The innermost distributed loop, where a tensor is communicated that no command names; -1, the root, if nothing is
  // distributed.
  int last_launch_position() const {
    int last = -1;
    for (int p = 0; p < count(); ++p) {
      if (loop(p).distributed) last = placed_.end_of_launch(p);
    }
    return last;
  }

  void add_inner_partials(int parent, const std::vector<AccessIndices>& accesses) {
    Acquire inner;
    inner.tensor = output_.tensor;
    inner.privilege = Privilege::Reduce;
    inner.accesses = accesses;
    inner.parent = parent;
    inner.place_levels = placed_.levels();
    int position = last_launch_position();
    inner.at = loop(position).name;
    locate(inner, position);
    push(std::move(inner), position);
  }

  // Several processors may do the same work only if each writes its own copy of the output. So the output must not be a
  // partial, to which each would add, nor be shared by processors of a lower level.
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

  // The position of the innermost loop of the program, which is that of the last launch or of the innermost acquire.
  // The loops further in belong to the leaf.
  int program_depth() const {
    int depth = last_launch_position();
    for (const PositionedAcquire& a : acquires_) depth = std::max(depth, a.position);
    return depth;
  }

  // Finds the `blocks` of every inexact read: a small set of the sequential loops inside it. Fixing these makes the
  // same indices exact as fixing all of them. Only loops of the program count, because a leaf takes each operand from
  // one rectangle.
  void find_blocks(int depth) {
    for (auto& [acquire, position] : acquires_) {
      if (acquire.privilege != Privilege::Read || acquire.exact) continue;
      std::vector<int> blocks;
      for (int p = position + 1; p <= depth; ++p) {
        if (!loop(p).distributed) blocks.push_back(loop(p).variable);
      }
      std::vector<bool> best = exact_indices(acquire, blocks);
      for (size_t b = blocks.size(); b-- > 0;) {
        std::vector<int> fewer = blocks;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(b));
        if (exact_indices(acquire, fewer) == best) blocks = std::move(fewer);
      }
      std::vector<Interval<IntExpr>> intervals = intervals_with(fixed_with(acquire, blocks));
      acquire.exact_in_blocks = std::all_of(acquire.accesses.begin(), acquire.accesses.end(),
                                            [&](const AccessIndices& a) { return is_exact(a.variables, intervals); });
      acquire.blocks = std::move(blocks);
    }
  }

  static std::vector<int> fixed_with(const Acquire& acquire, const std::vector<int>& more) {
    std::vector<int> out = acquire.fixed;
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  // Which indices are exact if the blocks are fixed too: those of all accesses, in one list.
  std::vector<bool> exact_indices(const Acquire& acquire, const std::vector<int>& blocks) const {
    std::vector<Interval<IntExpr>> intervals = intervals_with(fixed_with(acquire, blocks));
    std::vector<bool> out;
    for (const AccessIndices& indices : acquire.accesses) {
      for (int v : indices.variables) out.push_back(intervals[v].exact);
    }
    return out;
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

  const ScheduledStatement& scheduled_;
  const Stmt& concrete_;
  Nest nest_;
  std::vector<Assignment> assignments_;  // first the one to the output, then those to workspaces
  Access output_;
  PlacedNest placed_;
  std::vector<int> reductions_;
  std::vector<IndexVar> kernel_loops_;  // those that a library kernel replaces in the outermost nest
  std::vector<PositionedAcquire> acquires_;
};

}  // namespace

Stage lower_statement(const Module& module, const ScheduledStatement& scheduled, const Stmt& concrete) {
  return Lowering(module, scheduled, concrete).run();
}

}  // namespace distal::core
