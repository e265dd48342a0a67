#include "coverage.h"

#include <algorithm>
#include <map>

#include "plan/walk.h"

namespace distal::core::property {

namespace {

class LanguageFeatures {
 public:
  LanguageFeatures(const Module& module, Features& out) : module_(module), out_(out) {}

  void run() {
    out_.insert("type " + to_string(module_.type));
    if (module_.statements.size() > 1) out_.insert("several statements");
    if (module_.machines.empty()) out_.insert("no machine");
    for (const Machine& m : module_.machines) machine(m);
    for (const Tensor& t : module_.tensors) tensor(t);
    for (const ScheduledStatement& s : module_.statements) {
      statement(s.statement);
      if (s.schedule.empty()) out_.insert("no schedule");
      schedule(s);
    }
  }

 private:
  void machine(const Machine& m) {
    if (m.is_free) out_.insert("machine without a grid");
    if (m.processors && !m.is_free) out_.insert("processors as a grid");
    if (m.levels.size() == 2) out_.insert("two levels");
    if (m.levels.size() > 2) out_.insert("three levels");
    for (const Grid& g : m.levels) out_.insert("grid of " + std::to_string(g.extents.size()) + " dimensions");
  }

  void tensor(const Tensor& t) {
    out_.insert("tensor of " + std::to_string(t.dimensions.size()) + " dimensions");
    if (!std::is_sorted(t.order.begin(), t.order.end())) out_.insert("order");
    if (!t.distribution) {
      out_.insert("no distribution");
      return;
    }
    if (t.machine && t.machine->name.empty()) out_.insert("machine in place");
    for (const LevelDistribution& level : t.distribution->levels) {
      for (const auto& [name, block] : level.cyclic) out_.insert(block.is_constant(1) ? "cyclic" : "block-cyclic");
      for (const MachineDimension& d : level.machine_dimensions) {
        const auto* fix = std::get_if<Fix>(&d.role);
        if (std::holds_alternative<Partition>(d.role)) out_.insert("partition");
        if (std::holds_alternative<Broadcast>(d.role)) out_.insert("broadcast");
        if (fix) out_.insert(fix->face.is_constant(0) ? "fix" : "fix to a further face");
      }
    }
  }

  void statement(const Statement& s) {
    std::optional<Machine> first = module_.find_tensor(s.lhs.tensor)->machine;
    for (const Access& a : accesses(s.rhs)) {
      const std::optional<Machine>& machine = module_.find_tensor(a.tensor)->machine;
      if (first && machine && first->levels != machine->levels && !is_copy(s)) out_.insert("tensors on two grids");
    }
    if (s.op == AssignOp::Accumulate) out_.insert("accumulate");
    if (s.op == AssignOp::Subtract) out_.insert("subtract");
    if (reads_output(s)) out_.insert("output on the right");
    if (s.lhs.is_shifted()) out_.insert("shifted index in the output");
    std::vector<IndexVar> right = variables(s.rhs);
    for (const IndexVar& v : s.lhs.indices) {
      if (std::find(right.begin(), right.end(), v) == right.end()) out_.insert("index of the output only");
    }
    if (repeats(s.lhs)) out_.insert("repeated index in the output");
    std::vector<IndexVar> sums = reduction_variables(s);
    out_.insert(sums.empty() ? "no reduction" : "reduction");
    for (const Term& term : additive_terms(s.rhs)) {
      std::vector<IndexVar> used = variables(term.expr);
      for (const IndexVar& v : sums) {
        if (std::find(used.begin(), used.end(), v) == used.end()) out_.insert("term without a reduction variable");
      }
    }
    std::map<std::string, int> times;
    for (const Access& a : accesses(s.rhs)) {
      if (++times[a.tensor] > 1) out_.insert("same tensor twice");
      if (repeats(a)) out_.insert("repeated index");
      if (a.is_shifted()) out_.insert("shifted index");
    }
    expression(s.rhs);
  }

  static bool repeats(const Access& a) {
    std::set<std::string> seen;
    for (const IndexVar& v : a.indices) {
      if (!seen.insert(v.name).second) return true;
    }
    return false;
  }

  void expression(const Expr& e) {
    if (std::holds_alternative<Literal>(e.node())) out_.insert("literal");
    if (std::holds_alternative<ParamUse>(e.node())) out_.insert("param as a number");
    if (const auto* n = std::get_if<Negate>(&e.node())) {
      out_.insert("negation");
      expression(n->operand);
    }
    if (const auto* b = std::get_if<Binary>(&e.node())) {
      if (b->op == BinaryOp::Subtract) out_.insert("subtraction");
      auto is_sum = [](const Expr& x) {
        const auto* inner = std::get_if<Binary>(&x.node());
        return inner && inner->op != BinaryOp::Multiply;
      };
      if (b->op == BinaryOp::Multiply && (is_sum(b->left) || is_sum(b->right))) out_.insert("product of sums");
      expression(b->left);
      expression(b->right);
    }
  }

  void schedule(const ScheduledStatement& s) {
    std::map<std::string, int> communicated;
    for (const Command& c : s.schedule) {
      static const std::set<std::string> refined{"rotate", "distribute", "precompute", "unroll", "vectorize"};
      if (refined.count(c.name) == 0) out_.insert(c.name);
      if (c.name == "precompute" && module_.find_tensor(std::get<Name>(c.arguments[3]).text)) {
        out_.insert("precompute with a home");
      }
      if (c.name == "rotate") {
        size_t by = std::get<std::vector<IndexVar>>(c.arguments[1]).size();
        out_.insert(by == 1 ? "rotate by one" : "rotate by several");
      }
      if (c.name == "distribute") c.arguments.size() == 4 ? compound(c) : bare(c);
      if (c.name == "communicate") {
        for (const Name& t : std::get<std::vector<Name>>(c.arguments[0])) {
          if (++communicated[t.text] > 1) out_.insert("communicate twice");
        }
      }
    }
    if (!s.schedule.empty() && communicated.empty()) out_.insert("no communicate");
  }

  void bare(const Command& c) {
    const GridRef* onto = onto_of(c);
    if (!onto) out_.insert("distribute bare");
    if (onto) out_.insert(onto->level ? "distribute bare onto a level" : "distribute bare onto a machine");
  }

  void compound(const Command& c) {
    const GridRef& onto = *onto_of(c);
    if (std::get<std::vector<IndexVar>>(c.arguments[2]).size() >
        std::get<std::vector<IndexVar>>(c.arguments[0]).size()) {
      out_.insert("distribute with named rounds");
    }
    if (onto.notation) out_.insert("distribute by notation");
    if (onto.grid) {
      out_.insert("distribute onto a grid in place");
    } else if (const Tensor* t = module_.find_tensor(onto.name.text)) {
      out_.insert(onto.level ? "distribute onto a level of a tensor" : "distribute onto a tensor");
      size_t level = onto.level ? static_cast<size_t>(*onto.level) : 0;
      bool known = t->distribution && level < t->distribution->levels.size();
      if (known && !t->distribution->levels[level].cyclic.empty()) out_.insert("distribute onto a cyclic tensor");
    } else {
      out_.insert(onto.level ? "distribute onto a level" : "distribute onto a machine");
    }
  }

  const Module& module_;
  Features& out_;
};

class PlanFeatures : public PlanVisitor {
 public:
  PlanFeatures(const Plan& plan, Features& out) : plan_(plan), out_(out) {}

  void begin(const StagePlan& stage) override {
    stage_ = &stage;
    leaf(leaf_of(*stage.stage).root);
    if (stage.fold_at) out_.insert("folded loops");
    for (int64_t face : stage.held) {
      if (face > 0) out_.insert("held at a face");
    }
    for (const std::string& name : stage.space.names) {
      if (name.ends_with("_turn")) out_.insert("over-decomposition");
    }
    for (const AcquirePlan& a : stage.acquires) acquire(*a.acquire);
    const Ownership& output = plan_.tensors[stage.output].owners;
    if (output.has_replicas()) out_.insert("output with replicas");
  }
  bool wants_leaves() const override { return false; }

  void leaf(const LeafPart& part) {
    for (const LoopMark& m : part.marks) {
      if (m.kind == LoopMark::Kind::Parallel) out_.insert("parallel leaf");
      if (m.kind == LoopMark::Kind::Parallel && m.race != OutputRace::None) out_.insert("parallel sum");
      if (m.kind == LoopMark::Kind::Unroll) out_.insert("unrolled leaf");
      if (m.kind == LoopMark::Kind::Vectorize) out_.insert("vectorized leaf");
    }
    if (part.compute() && part.compute()->library) out_.insert("gemm leaf");
    if (!part.parts()) return;
    out_.insert("workspace");
    for (const LeafPart& inner : *part.parts()) leaf(inner);
  }

  void fetch(const FetchStep& step) override {
    for (const Fetch& f : step.fetches) {
      for (int64_t view : f.views) out_.insert(view >= 0 ? "used in place" : "acquired as a copy");
      for (const FetchPiece& p : f.pieces) {
        if (p.from == FetchPiece::From::Kept) out_.insert("kept piece");
        if (p.from == FetchPiece::From::Neighbour) out_.insert("neighbour's piece");
      }
    }
  }

  void release(const ReleaseStep& step) override {
    for (const Transfer& t : step.transfers) {
      switch (t.kind) {
        case Transfer::Kind::WriteHome: out_.insert("written home"); break;
        case Transfer::Kind::CombineHome: out_.insert("combined at home"); break;
        case Transfer::Kind::CombinePartial: out_.insert("partials combined on the way"); break;
        case Transfer::Kind::CombineParent: out_.insert("partials combined in a shared copy"); break;
        case Transfer::Kind::Replicate: out_.insert("replicated"); break;
      }
    }
  }

 private:
  void acquire(const Acquire& a) {
    bool output = a.privilege != Privilege::Read;
    if (!a.exact) out_.insert(output ? "inexact output" : "inexact input");
    if (!a.blocks.empty()) out_.insert("input in blocks");
    if (a.privilege == Privilege::Write) out_.insert("write");
    if (a.privilege == Privilege::Reduce) out_.insert("reduce");
    if (a.parent) out_.insert("inner partials");
    if (a.place_levels < stage_->machine.levels()) out_.insert(output ? "shared output" : "shared input");
  }

  const Plan& plan_;
  Features& out_;
  const StagePlan* stage_ = nullptr;
};

}  // namespace

void add_language_features(const Module& module, Features& features) { LanguageFeatures(module, features).run(); }

void add_plan_features(const Plan& plan, Features& features) {
  for (const TensorPlan& t : plan.tensors) {
    if (whole(t.owners.shape()).volume() == 0) features.insert("tensor without elements");
    for (int64_t p = 0; p < t.owners.machine().processors; ++p) {
      if (!t.owners.owns_any(p)) features.insert("processor without a piece");
    }
  }
  PlanFeatures visitor(plan, features);
  walk(plan, visitor);
}

const Features& all_features() {
  static const Features all{"type int64",
                            "type int32",
                            "type double",
                            "type float",
                            "type complex<double>",
                            "type complex<float>",
                            "several statements",
                            "no machine",
                            "machine without a grid",
                            "processors as a grid",
                            "tensors on two grids",
                            "two levels",
                            "three levels",
                            "grid of 1 dimensions",
                            "grid of 2 dimensions",
                            "grid of 3 dimensions",
                            "tensor of 0 dimensions",
                            "tensor of 1 dimensions",
                            "tensor of 2 dimensions",
                            "tensor of 3 dimensions",
                            "tensor of 4 dimensions",
                            "tensor of 5 dimensions",
                            "order",
                            "no distribution",
                            "machine in place",
                            "cyclic",
                            "block-cyclic",
                            "partition",
                            "broadcast",
                            "fix",
                            "fix to a further face",
                            "accumulate",
                            "subtract",
                            "output on the right",
                            "shifted index",
                            "shifted index in the output",
                            "index of the output only",
                            "param as a number",
                            "tensor without elements",
                            "repeated index in the output",
                            "no reduction",
                            "reduction",
                            "term without a reduction variable",
                            "same tensor twice",
                            "repeated index",
                            "literal",
                            "negation",
                            "subtraction",
                            "product of sums",
                            "no schedule",
                            "split",
                            "divide",
                            "collapse",
                            "reorder",
                            "parallelize",
                            "substitute",
                            "rotate by one",
                            "rotate by several",
                            "distribute bare",
                            "distribute bare onto a level",
                            "distribute bare onto a machine",
                            "distribute onto a machine",
                            "distribute onto a level",
                            "distribute onto a grid in place",
                            "distribute onto a tensor",
                            "distribute onto a level of a tensor",
                            "distribute onto a cyclic tensor",
                            "distribute with named rounds",
                            "communicate",
                            "communicate twice",
                            "no communicate",
                            "gemm leaf",
                            "parallel leaf",
                            "parallel sum",
                            "unrolled leaf",
                            "vectorized leaf",
                            "workspace",
                            "precompute with a home",
                            "distribute by notation",
                            "folded loops",
                            "held at a face",
                            "over-decomposition",
                            "output with replicas",
                            "processor without a piece",
                            "used in place",
                            "acquired as a copy",
                            "kept piece",
                            "neighbour's piece",
                            "written home",
                            "combined at home",
                            "partials combined on the way",
                            "partials combined in a shared copy",
                            "replicated",
                            "inexact output",
                            "inexact input",
                            "input in blocks",
                            "write",
                            "reduce",
                            "inner partials",
                            "shared output",
                            "shared input"};
  return all;
}

}  // namespace distal::core::property
