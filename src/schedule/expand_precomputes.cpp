#include "schedule/expand_precomputes.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/same_machine.h"
#include "schedule/checks.h"
#include "schedule/match_part.h"
#include "schedule/precompute.h"
#include "support/text.h"

namespace distal::core {

namespace {

class Expansion {
 public:
  Expansion(const Module& module, const ScheduledStatement& original, size_t at, const Precompute& command)
      : module_(module),
        original_(original),
        at_(at),
        c_(command),
        tensor_(*module.find_tensor(c_.workspace.text)),
        nest_(nest_of(concretize(original.statement))) {}

  std::pair<ScheduledStatement, ScheduledStatement> run() {
    check_lists();
    Access read{tensor_.name, c_.variables, c_.workspace.span};
    auto replaced = replace_part(original_.statement.rhs, c_.expr, read);
    if (!replaced) {
      refuse(nest_, c_.workspace.span,
             fmt::format("precompute: {} is not a part of the right side {}", to_string(c_.expr),
                         to_string(original_.statement.rhs)));
    }
    find_sums(*replaced);
    check_indices();
    check_machine();
    const Statement& s = original_.statement;
    ScheduledStatement consumer{{s.lhs, s.op, replaced->rhs, s.span}, {}, s, true};
    ScheduledStatement producer{producer_statement(), {}, std::nullopt, false};
    if (!original_.counts) consumer.counts = false;
    if (original_.origin) consumer.origin = original_.origin;
    divide_schedule(producer, consumer);
    return {producer, consumer};
  }

 private:
  void check_lists() const {
    size_t dimensions = tensor_.dimensions.size();
    if (c_.variables.size() != dimensions || c_.copies.size() != dimensions) {
      refuse(nest_, c_.workspace.span,
             fmt::format("precompute: {} has {}, but the command gives {} and {}", tensor_.name,
                         counted(static_cast<int64_t>(dimensions), "dimension"),
                         counted(static_cast<int64_t>(c_.variables.size()), "loop"),
                         counted(static_cast<int64_t>(c_.copies.size()), "copy", "copies")));
    }
    require_distinct(nest_, c_.variables, "precompute");
    require_distinct(nest_, c_.copies, "precompute");
    std::vector<IndexVar> own = variables(original_.statement);
    for (const IndexVar& v : c_.variables) {
      if (contains(own, v)) continue;
      refuse(nest_, v.span,
             fmt::format("precompute: {} is not an index of the statement, so it cannot index the tensor {}", v.name,
                         tensor_.name));
    }
    for (const IndexVar& v : c_.copies) require_new(nest_, v, "precompute");
    std::vector<Access> all = accesses(original_.statement.rhs);
    all.push_back(original_.statement.lhs);
    for (const Access& access : all) {
      if (access.tensor != tensor_.name) continue;
      refuse(nest_, c_.workspace.span,
             fmt::format("precompute: the statement uses {} itself; precompute into another tensor", tensor_.name));
    }
  }

  void find_sums(const ReplacedPart& replaced) {
    std::vector<IndexVar> elsewhere = variables(replaced.rhs), used = variables(c_.expr);
    for (const IndexVar& v : reduction_variables(original_.statement)) {
      if (contains(used, v) && !contains(elsewhere, v)) sums_.push_back(v);
    }
    std::vector<IndexVar> outer_sums;  // variables of the part that the consumer sums over
    for (const IndexVar& v : reduction_variables(original_.statement)) {
      if (contains(used, v) && contains(elsewhere, v)) outer_sums.push_back(v);
    }
    require_whole_sum(nest_, c_.expr, c_.workspace.span, replaced.in_product ? sums_ : outer_sums);
  }

  void check_indices() const {
    std::vector<IndexVar> used = variables(c_.expr);
    for (const IndexVar& v : used) {
      if (contains(sums_, v) || contains(c_.variables, v)) continue;
      refuse(
          nest_, c_.workspace.span,
          fmt::format("precompute: {} is a tensor, so it needs every index that the part does not sum; {} is missing",
                      tensor_.name, v.name));
    }
    for (const IndexVar& v : c_.variables) {
      if (contains(used, v)) continue;
      refuse(nest_, v.span, fmt::format("precompute: {} does not depend on {}", to_string(c_.expr), v.name));
    }
    for (size_t i = 0; i < at_; ++i) {
      const Command& before = original_.schedule[i];
      if (!names_any(before, sums_)) continue;
      refuse(nest_, c_.workspace.span,
             fmt::format("precompute: the new statement sums over {}, which an earlier command has scheduled; put "
                         "precompute before {}",
                         loops_named(before)[0].name, to_string(before)));
    }
  }

  void check_machine() const {
    for (const Access& access : accesses(c_.expr)) {
      const Tensor* t = module_.find_tensor(access.tensor);
      if (!t) throw Error(fmt::format("unknown tensor `{}`", access.tensor), access.span);
      if (t->machine && tensor_.machine && surely_differ(*t->machine, *tensor_.machine)) {
        refuse_two_machines(t->name, *t->machine, tensor_.name, *tensor_.machine, c_.workspace.span);
      }
    }
  }

  Statement producer_statement() const {
    auto rename = [&](const IndexVar& v) {
      auto at = std::find(c_.variables.begin(), c_.variables.end(), v);
      return at == c_.variables.end() ? v : c_.copies[static_cast<size_t>(at - c_.variables.begin())];
    };
    Access lhs{tensor_.name, c_.copies, c_.workspace.span};
    return {lhs, AssignOp::Assign, rename_indices(c_.expr, rename), original_.schedule[at_].span};
  }

  void divide_schedule(ScheduledStatement& producer, ScheduledStatement& consumer) const {
    std::vector<IndexVar> producers = c_.copies;
    producers.insert(producers.end(), sums_.begin(), sums_.end());
    for (size_t i = 0; i < original_.schedule.size(); ++i) {
      const Command& command = original_.schedule[i];
      if (i == at_) continue;
      bool for_producer = i > at_ && belongs_to_producer(command, producers);
      (for_producer ? producer : consumer).schedule.push_back(command);
      if (!for_producer) continue;
      for (const IndexVar& v : loops_made(command)) producers.push_back(v);
      for (const IndexVar& v : loops_named(command)) producers.push_back({v.name + "_round", {}});
    }
    for (ScheduledStatement* part : {&producer, &consumer}) part->has_empty_schedule = part->schedule.empty();
  }

  // A later precompute belongs to the statement whose right side contains its part.
  bool belongs_to_producer(const Command& command, const std::vector<IndexVar>& producers) const {
    if (std::optional<Precompute> p = precompute_in(command)) {
      return replace_part(producer_statement().rhs, p->expr, Access{"", {}, {}}).has_value();
    }
    return names_any(command, producers);
  }

  const Module& module_;
  const ScheduledStatement& original_;
  size_t at_;
  const Precompute& c_;
  const Tensor& tensor_;
  Nest nest_;
  std::vector<IndexVar> sums_;
};

void expand(const Module& module, const ScheduledStatement& statement, std::vector<ScheduledStatement>& out) {
  for (size_t i = 0; i < statement.schedule.size(); ++i) {
    std::optional<Precompute> p = precompute_in(statement.schedule[i]);
    if (!p || !module.find_tensor(p->workspace.text)) continue;
    auto [producer, consumer] = Expansion(module, statement, i, *p).run();
    expand(module, producer, out);
    expand(module, consumer, out);
    return;
  }
  out.push_back(statement);
}

}  // namespace

Module expand_precomputes(const Module& module) {
  Module out = module;
  out.statements.clear();
  for (const ScheduledStatement& s : module.statements) expand(module, s, out.statements);
  return out;
}

}  // namespace distal::core
