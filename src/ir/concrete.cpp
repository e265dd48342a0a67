#include "ir/concrete.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace distal::core {

namespace {

struct Printer {
  std::string operator()(const Forall& s) const { return fmt::format("∀{} {}", s.variable.name, to_string(s.body)); }
  std::string operator()(const Assignment& s) const {
    return fmt::format("{} {} {}", to_string(s.lhs), to_string(s.op), to_string(s.rhs));
  }
  std::string operator()(const Where& s) const {
    return fmt::format("({} where {})", to_string(s.consumer), to_string(s.producer));
  }
  std::string operator()(const SuchThat& s) const {
    std::vector<std::string> parts;
    for (const Relation& r : s.relations) parts.push_back(to_string(r));
    return fmt::format("{} s.t. {}", to_string(s.body), fmt::join(parts, ", "));
  }
};

std::string marks_on(const Nest& nest, const IndexVar& v) {
  std::string out = nest.is_distributed(v) ? "  distributed" : "";
  for (const auto* mark : relations_of<MarkRelation>(nest.relations)) {
    if (mark->variable == v) out += "  " + mark->code.in_nest();
  }
  std::vector<std::string> tensors;
  for (const auto* c : relations_of<CommunicateRelation>(nest.relations)) {
    if (c->at == v) tensors.push_back(c->tensor.text);
  }
  return tensors.empty() ? out : out + fmt::format("  communicate {}", fmt::join(tensors, ", "));
}

std::string nest_text(const Nest& nest, std::string indent) {
  std::string out;
  for (const IndexVar& v : nest.loops) {
    out += fmt::format("{}∀{}{}\n", indent, v.name, marks_on(nest, v));
    indent += "  ";
  }
  if (!nest.body.as<Where>()) return out + indent + to_string(nest.body) + "\n";
  return out + nest_text(side_of(nest, WhereSide::Consumer), indent) + indent + "where\n" +
         nest_text(side_of(nest, WhereSide::Producer), indent);
}

}  // namespace

Stmt::Stmt(Forall node) : node_(std::make_shared<const Node>(std::move(node))) {}
Stmt::Stmt(Assignment node) : node_(std::make_shared<const Node>(std::move(node))) {}
Stmt::Stmt(Where node) : node_(std::make_shared<const Node>(std::move(node))) {}
Stmt::Stmt(SuchThat node) : node_(std::make_shared<const Node>(std::move(node))) {}

bool operator==(const Stmt& a, const Stmt& b) { return a.node_ == b.node_ || *a.node_ == *b.node_; }

std::string to_string(const Stmt& stmt) { return std::visit(Printer{}, stmt.node()); }

Stmt concretize(const Statement& statement) {
  bool adds = accumulates(statement.op) || !reduction_variables(statement).empty();
  Expr rhs = statement.op == AssignOp::Subtract ? Expr::negate(statement.rhs) : statement.rhs;
  Stmt body = Assignment{statement.lhs, adds ? AssignOp::Accumulate : AssignOp::Assign, rhs};
  std::vector<IndexVar> loops = variables(statement);
  for (auto v = loops.rbegin(); v != loops.rend(); ++v) body = Forall{*v, body};
  return body;
}

bool Nest::has_loop(const IndexVar& variable) const {
  return std::find(loops.begin(), loops.end(), variable) != loops.end();
}

size_t Nest::position(const IndexVar& variable) const {
  return static_cast<size_t>(std::find(loops.begin(), loops.end(), variable) - loops.begin());
}

bool Nest::is_distributed(const IndexVar& variable) const {
  return find_relation<DistributeRelation>(relations, [&](const auto& d) { return d.variable == variable; }) != nullptr;
}

void Nest::replace_loop(const IndexVar& variable, const std::vector<IndexVar>& with) {
  auto at = loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(position(variable)));
  loops.insert(at, with.begin(), with.end());
}

Nest nest_of(const Stmt& stmt) {
  if (const auto* s = stmt.as<SuchThat>()) {
    Nest nest = nest_of(s->body);
    nest.relations.insert(nest.relations.end(), s->relations.begin(), s->relations.end());
    return nest;
  }
  std::vector<IndexVar> loops;
  Stmt body = stmt;
  while (const auto* f = body.as<Forall>()) {
    loops.push_back(f->variable);
    body = Stmt(f->body);
  }
  return Nest{std::move(loops), body, {}, {}};
}

Stmt to_stmt(const Nest& nest) {
  Stmt stmt = nest.body;
  for (auto v = nest.loops.rbegin(); v != nest.loops.rend(); ++v) stmt = Forall{*v, stmt};
  return nest.relations.empty() ? stmt : Stmt(SuchThat{stmt, nest.relations});
}

Nest side_of(const Nest& nest, WhereSide side) {
  const auto& where = *nest.body.as<Where>();
  Nest inner = nest_of(side == WhereSide::Consumer ? where.consumer : where.producer);
  inner.relations = nest.relations;
  inner.enclosing_loops = nest.enclosing_loops;
  inner.enclosing_loops.insert(inner.enclosing_loops.end(), nest.loops.begin(), nest.loops.end());
  return inner;
}

Nest with_side(const Nest& nest, WhereSide side, const Nest& inner) {
  const auto& where = *nest.body.as<Where>();
  Stmt changed = to_stmt(Nest{inner.loops, inner.body, {}, {}});
  Nest out = nest;
  out.relations = inner.relations;
  out.body = side == WhereSide::Consumer ? Where{changed, where.producer} : Where{where.consumer, changed};
  return out;
}

std::vector<Assignment> assignments(const Stmt& stmt) {
  Nest nest = nest_of(stmt);
  if (const auto* a = nest.body.as<Assignment>()) return {*a};
  const auto* where = nest.body.as<Where>();
  if (!where) throw InternalError("a nest of neither an assignment nor a where");
  std::vector<Assignment> out = assignments(where->consumer);
  for (Assignment& a : assignments(where->producer)) out.push_back(std::move(a));
  return out;
}

std::vector<IndexVar> all_loops(const Stmt& stmt) {
  Nest nest = nest_of(stmt);
  std::vector<IndexVar> out = nest.loops;
  if (const auto* where = nest.body.as<Where>()) {
    for (const Stmt* side : {&where->consumer, &where->producer}) {
      for (IndexVar& v : all_loops(*side)) out.push_back(std::move(v));
    }
  }
  return out;
}

std::string loop_nest_text(const Stmt& stmt) { return nest_text(nest_of(stmt), ""); }

}  // namespace distal::core
