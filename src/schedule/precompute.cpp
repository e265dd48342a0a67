// precompute into a workspace: the producer computes a part of the right side, and the consumer, which is the rest of
// the statement, reads it.

#include <fmt/format.h>

#include <algorithm>

#include "ir/iteration_space.h"
#include "schedule/checks.h"
#include "schedule/commands.h"
#include "schedule/kernel_shape.h"
#include "schedule/match_part.h"
#include "schedule/precompute.h"
#include "support/text.h"

namespace distal::core {

namespace {

class Rewrite {
 public:
  Rewrite(const Nest& nest, const Precompute& command, const ScheduleContext& context)
      : nest_(nest),
        c_(command),
        context_(context),
        assignment_(assignment_of(nest)),
        space_(make_names_only_space(context.statement)) {}

  Nest run() {
    check_names();
    find_sums();
    size_t start = first_inner_loop();
    for (size_t i = start; i < nest_.loops.size(); ++i) assign_loop(nest_.loops[i]);
    check_consumer();
    find_copies();
    check_used();

    PrecomputeRelation relation{c_.workspace, originals_, copies_, {}, {}};
    for (const IndexVar& v : sums_) relation.sums.push_back(relation.copy_of(v));
    Access read{c_.workspace.text, indices(), c_.workspace.span}, filled = read;
    for (const IndexVar& v : free_) {
      if (!contains(read.indices, v)) relation.fixed.push_back(v);
    }
    for (IndexVar& v : filled.indices) v = relation.copy_of(v);
    auto rename = [&](const IndexVar& v) { return relation.copy_of(v); };
    Stmt consumer = Assignment{assignment_.lhs, assignment_.op, replace_part(assignment_.rhs, c_.expr, read)->rhs};
    Stmt producer = Assignment{filled, AssignOp::Accumulate, rename_indices(c_.expr, rename)};

    Nest out = nest_;
    out.loops.resize(start);
    out.body = Where{to_stmt({consumer_loops_, consumer, {}, {}}), to_stmt({producer_loops_, producer, {}, {}})};
    out.relations.push_back(relation);
    return out;
  }

 private:
  // All extents are 1: this class only asks how variables derive from one another.
  IterationSpace<IntExpr> make_names_only_space(const Statement& statement) const {
    std::map<std::string, IntExpr> extents;
    for (const IndexVar& v : variables(statement)) extents.emplace(v.name, IntExpr(1));
    return make_space(variables(statement), extents, nest_.relations);
  }

  bool depends(const IndexVar& variable, const IndexVar& loop) const {
    int v = find_variable(space_, variable.name), l = find_variable(space_, loop.name);
    return recovered_from(space_.derivations, space_.size(), v)[l];
  }

  void check_names() const {
    if (c_.variables.size() != c_.copies.size()) {
      refuse(nest_, c_.workspace.span,
             fmt::format("precompute: {} and {}; the two lists must have the same length",
                         counted(static_cast<int64_t>(c_.variables.size()), "loop"),
                         counted(static_cast<int64_t>(c_.copies.size()), "copy", "copies")));
    }
    require_distinct(nest_, c_.variables, "precompute");
    require_distinct(nest_, c_.copies, "precompute");
    for (const IndexVar& v : c_.variables) require_loop(nest_, v, "precompute");
    for (const IndexVar& v : c_.copies) require_new(nest_, v, "precompute");
    if (const SubstituteRelation* s = substitution_of(nest_)) {
      refuse(nest_, c_.workspace.span,
             fmt::format("precompute: the loops are {} already; put precompute before substitute",
                         with_article(s->kernel.text)));
    }
  }

  // A sum whose index only the part uses moves into the producer.
  void find_sums() {
    Access nothing{c_.workspace.text, {}, {}};
    auto replaced = replace_part(assignment_.rhs, c_.expr, nothing);
    std::vector<IndexVar> used = used_variables(nest_.relations, c_.expr),
                          elsewhere = used_variables(nest_.relations, replaced->rhs);
    for (const IndexVar& v : sums_of(nest_.relations, assignment_)) {
      if (contains(used, v) && !contains(elsewhere, v)) sums_.push_back(v);
    }
    for (const IndexVar& v : used) {
      if (!contains(sums_, v)) free_.push_back(v);
    }
    elsewhere_ = elsewhere;
    for (const IndexVar& v : assignment_.lhs.indices) elsewhere_.push_back(v);
    require_whole_sum(nest_, c_.expr, c_.workspace.span, replaced->in_product ? sums_ : outer_sums());
  }

  // The variables of the part that the consumer sums over.
  std::vector<IndexVar> outer_sums() const {
    std::vector<IndexVar> out = sums_of(nest_.relations, assignment_);
    std::erase_if(out, [&](const IndexVar& v) { return !contains(free_, v); });
    return out;
  }

  bool is_summed(const IndexVar& loop) const {
    for (const IndexVar& v : origins(nest_, loop)) {
      if (!contains(sums_, v)) return false;
    }
    return true;
  }

  // The position of the outermost loop inside the workspace. The workspace encloses the loops that the command names,
  // and the sums that directly enclose these.
  size_t first_inner_loop() const {
    size_t start = nest_.loops.size();
    for (const IndexVar& v : c_.variables) start = std::min(start, nest_.position(v));
    while (start > 0 && is_summed(nest_.loops[start - 1]) && !nest_.is_distributed(nest_.loops[start - 1])) --start;
    return start;
  }

  // Assigns a loop inside the workspace to the producer, to the consumer, or to both.
  void assign_loop(const IndexVar& loop) {
    refuse_marks(loop);
    auto at = std::find(c_.variables.begin(), c_.variables.end(), loop);
    bool sums = is_summed(loop);
    if (at != c_.variables.end() && sums) {
      refuse(
          nest_, at->span,
          fmt::format("precompute: the producer sums over {0}, so {0} cannot be a loop of the workspace", loop.name));
    }
    if (sums) {
      producer_loops_.push_back(loop);
      return;
    }
    consumer_loops_.push_back(loop);
    if (at != c_.variables.end()) {
      producer_loops_.push_back(c_.copies[static_cast<size_t>(at - c_.variables.begin())]);
      return;
    }
    for (const IndexVar& v : origins(nest_, loop)) {
      if (!contains(sums_, v)) continue;
      refuse(nest_, c_.workspace.span,
             fmt::format("precompute: loop {} is made from {}, which the producer sums, and from other indices",
                         loop.name, v.name));
    }
    for (const IndexVar& v : free_) {
      if (!depends(v, loop)) continue;
      refuse(nest_, c_.workspace.span,
             fmt::format("precompute: {0} uses {1}, which changes with loop {2} inside the workspace; add {2} to the "
                         "loops of {3}, or reorder it outwards",
                         to_string(c_.expr), v.name, loop.name, c_.workspace.text));
    }
  }

  void refuse_marks(const IndexVar& loop) const {
    if (nest_.is_distributed(loop)) {
      refuse(nest_, c_.workspace.span,
             fmt::format("precompute: the distributed loop {} would be inside the workspace, which belongs to one "
                         "processor; reorder the loop outwards, or declare {} as a tensor with a distribution",
                         loop.name, c_.workspace.text));
    }
    for (const auto* c : relations_of<CommunicateRelation>(nest_.relations)) {
      if (c->at != loop) continue;
      refuse(
          nest_, c_.workspace.span,
          fmt::format("precompute: {} is communicated at loop {}, which would be inside the workspace; communicate it "
                      "at a loop further out",
                      c->tensor.text, loop.name));
    }
  }

  void check_consumer() const {
    for (const IndexVar& v : elsewhere_) {
      for (const IndexVar& loop : producer_loops_) {
        if (contains(c_.copies, loop) || !depends(v, loop)) continue;
        refuse(nest_, c_.workspace.span,
               fmt::format("precompute: index {} is rotated by loop {}, which would move into the producer", v.name,
                           loop.name));
      }
    }
  }

  // The producer has copies of the named loops, and of every variable that is recovered from them.
  void find_copies() {
    originals_ = c_.variables;
    copies_ = c_.copies;
    for (int p = 0; p < space_.size(); ++p) {
      IndexVar v{space_.names[p], {}};
      bool moves = std::any_of(c_.variables.begin(), c_.variables.end(),
                               [&](const IndexVar& loop) { return v != loop && depends(v, loop); });
      if (!moves) continue;
      originals_.push_back(v);
      copies_.push_back(made_up(nest_, context_, v, "_" + c_.workspace.text, copies_));
    }
  }

  void check_used() const {
    for (const IndexVar& loop : c_.variables) {
      bool used = std::any_of(free_.begin(), free_.end(), [&](const IndexVar& v) { return depends(v, loop); });
      if (!used) {
        refuse(nest_, loop.span,
               fmt::format("precompute: {} does not depend on loop {}", to_string(c_.expr), loop.name));
      }
      for (const IndexVar& v : origins(nest_, loop)) {
        if (contains(free_, v)) continue;
        refuse(nest_, loop.span,
               fmt::format("precompute: loop {0} also runs over {1}, which {2} does not use, so {2} would be added "
                           "once for each {1}; reorder {0} outwards",
                           loop.name, v.name, to_string(c_.expr)));
      }
    }
  }

  // The indices of the workspace: those indices of the part that depend on the named loops.
  std::vector<IndexVar> indices() const {
    std::vector<IndexVar> out;
    for (const IndexVar& loop : c_.variables) {
      for (const IndexVar& v : free_) {
        if (depends(v, loop) && !contains(out, v)) out.push_back(v);
      }
    }
    return out;
  }

  const Nest& nest_;
  const Precompute& c_;
  const ScheduleContext& context_;
  const Assignment& assignment_;
  IterationSpace<IntExpr> space_;
  std::vector<IndexVar> sums_;       // the variables that the producer sums over
  std::vector<IndexVar> free_;       // the other variables of the part
  std::vector<IndexVar> elsewhere_;  // the variables that the consumer uses
  std::vector<IndexVar> consumer_loops_, producer_loops_;
  std::vector<IndexVar> originals_, copies_;
};

bool has_part(const Stmt& stmt, const Expr& part) {
  for (const Assignment& a : assignments(stmt)) {
    if (replace_part(a.rhs, part, a.lhs)) return true;
  }
  return false;
}

void check_workspace_name(const Nest& nest, const Precompute& c, const ScheduleContext& context) {
  if (workspace_of(nest.relations, c.workspace.text)) {
    refuse(nest, c.workspace.span,
           fmt::format("precompute: {} is a workspace of this statement already", c.workspace.text));
  }
  if (context.module.find_tensor(c.workspace.text)) {
    throw InternalError("expand_precomputes left a precompute into a tensor");
  }
}

Nest apply(const Nest& nest, const Precompute& c, const ScheduleContext& context) {
  check_workspace_name(nest, c, context);
  const auto* where = nest.body.as<Where>();
  if (!where) {
    if (!has_part(nest.body, c.expr)) {
      refuse(nest, c.workspace.span,
             fmt::format("precompute: {} is not a part of the right side {}", to_string(c.expr),
                         to_string(assignment_of(nest).rhs)));
    }
    return Rewrite(nest, c, context).run();
  }
  bool in_producer = !has_part(where->consumer, c.expr) && has_part(where->producer, c.expr);
  WhereSide side = in_producer ? WhereSide::Producer : WhereSide::Consumer;
  return with_side(nest, side, apply(side_of(nest, side), c, context));
}

Nest precompute(const Nest& nest, const ScheduleContext& context, const Expr& expr,
                const std::vector<IndexVar>& variables, const std::vector<IndexVar>& copies, const Name& workspace) {
  return apply(nest, {expr, variables, copies, workspace}, context);
}

}  // namespace

std::optional<Precompute> precompute_in(const Command& command) {
  if (command.name != "precompute") return std::nullopt;
  const std::vector<Argument>& arguments = command.arguments;
  return Precompute{std::get<Expr>(arguments[0]), std::get<std::vector<IndexVar>>(arguments[1]),
                    std::get<std::vector<IndexVar>>(arguments[2]), std::get<Name>(arguments[3])};
}

CommandRow precompute_command() {
  CommandRow row = command("precompute", "precompute(B(i, k) * C(k, j), {j}, {jw}, W)", precompute, part(),
                           loops().or_none(), new_loops().or_none(), name());
  row.at_outermost_nest = true;  // it finds the nest that has the part
  return row;
}

}  // namespace distal::core
