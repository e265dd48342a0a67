#include "from_module.h"

#include <algorithm>
#include <stdexcept>

namespace distal {

namespace {

int dimension_of(const core::LevelDistribution& level, const std::string& name) {
  const auto& names = level.tensor_dimensions;
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

FromModule::FromModule(const core::Module& module) : module_(module) {
  for (const core::Param& p : module.params) params_.emplace(p.name, Param(p.name, number(p.value).value()));
  for (const core::Machine& m : module.machines) machines_.emplace(m.name, made_of(m));
  for (const core::Tensor& t : module.tensors) tensors_.emplace(t.name, handle(t));
}

IndexVar FromModule::variable(const core::IndexVar& v) const {
  return variables_.try_emplace(v.name, v.name).first->second;
}

std::vector<IndexVar> FromModule::variables(const std::vector<core::IndexVar>& all) const {
  std::vector<IndexVar> out;
  for (const core::IndexVar& v : all) out.push_back(variable(v));
  return out;
}

TensorHandle FromModule::define(size_t s) {
  const core::ScheduledStatement& source = module_.statements[s];
  TensorHandle defined = tensors_.at(source.statement.lhs.tensor);
  Access left = access(source.statement.lhs);
  switch (source.statement.op) {
    case core::AssignOp::Assign: left = expression(source.statement.rhs); break;
    case core::AssignOp::Accumulate: left += expression(source.statement.rhs); break;
    case core::AssignOp::Subtract: left -= expression(source.statement.rhs); break;
  }
  if (source.has_empty_schedule) defined.schedule();
  for (const core::Command& c : source.schedule) add_command(defined.schedule(), c);
  return defined;
}

Int FromModule::number(const core::IntExpr& e) const {
  using Kind = core::IntExpr::Kind;
  switch (e.kind()) {
    case Kind::Constant: return Int(e.value());
    case Kind::Name: return Int(params_.at(e.name()));
    case Kind::Add: return number(e.a()) + number(e.b());
    case Kind::Sub: return number(e.a()) - number(e.b());
    case Kind::Mul: return number(e.a()) * number(e.b());
    case Kind::FloorDiv: return number(e.a()) / number(e.b());
    case Kind::CeilDiv: return ceildiv(number(e.a()), number(e.b()));
    case Kind::Min: return min(number(e.a()), number(e.b()));
    case Kind::Max: return max(number(e.a()), number(e.b()));
    case Kind::Mod: break;  // the text language has none either
  }
  throw std::logic_error("an expression that no text has");
}

std::vector<Int> FromModule::numbers(const std::vector<core::IntExpr>& all) const {
  std::vector<Int> out;
  for (const core::IntExpr& e : all) out.push_back(number(e));
  return out;
}

Grid FromModule::grid(const core::Grid& g) const { return Grid(numbers(g.extents)).of(g.processor); }

// A machine that a text writes in place becomes the declared machine with the same levels, if there is one.
Machine FromModule::machine(const core::Machine& m) const {
  for (const core::Machine& declared : module_.machines) {
    bool same = m.levels == declared.levels && m.processors == declared.processors && m.is_free == declared.is_free;
    if (m.name == declared.name || (m.name.empty() && same)) return machines_.at(declared.name);
  }
  return made_of(m);
}

Machine FromModule::made_of(const core::Machine& m) const {
  std::vector<Grid> levels;
  for (const core::Grid& g : m.levels) levels.push_back(grid(g));
  if (!m.processors) return Machine(levels, m.name);
  Machine made(Processors(number(*m.processors)).of(core::kind_of(m)), m.name);
  return m.is_free ? made : made.as(levels);
}

Role FromModule::role(const core::LevelDistribution& level, size_t dimension) const {
  const auto& role = level.machine_dimensions[dimension].role;
  if (const auto* partition = std::get_if<core::Partition>(&role)) return Role(dimension_of(level, partition->name));
  if (const auto* fix = std::get_if<core::Fix>(&role)) return Role(Face{number(fix->face)});
  return Role(Everywhere{});
}

std::vector<Role> FromModule::roles(const core::LevelDistribution& level) const {
  std::vector<Role> out;
  for (size_t d = 0; d < level.machine_dimensions.size(); ++d) out.push_back(role(level, d));
  return out;
}

Distribution FromModule::distribution(const core::Tensor& t) const {
  std::vector<std::vector<Role>> levels;
  for (const core::LevelDistribution& level : t.distribution->levels) levels.push_back(roles(level));
  Distribution out = Distribution::hierarchical(machine(*t.machine), levels, t.memory);
  for (size_t l = 0; l < levels.size(); ++l) {
    const core::LevelDistribution& level = t.distribution->levels[l];
    for (const auto& [name, block] : level.cyclic) {
      out.cyclic(dimension_of(level, name), number(block), static_cast<int>(l));
    }
  }
  return out;
}

TensorHandle FromModule::handle(const core::Tensor& t) const {
  std::vector<ModeFormat> modes(t.dimensions.size(), Dense);
  bool is_free = t.machine && !t.distribution;
  Format format = is_free          ? Format(machine(*t.machine))
                  : t.distribution ? Format(modes, t.order, distribution(t))
                                   : Format(modes, t.order);
  return TensorHandle(module_.type, t.name, numbers(t.dimensions), format);
}

Access FromModule::access(const core::Access& a) const {
  std::vector<Index> indices;
  for (size_t d = 0; d < a.indices.size(); ++d) {
    Index index = variable(a.indices[d]);
    indices.push_back(a.is_shifted(d) ? index + number(a.offset(d)) : index);
  }
  return Access(tensors_.at(a.tensor).state(), indices);
}

Expr FromModule::expression(const core::Expr& e) const {
  if (const auto* a = std::get_if<core::Access>(&e.node())) return access(*a);
  if (const auto* l = std::get_if<core::Literal>(&e.node())) return Expr(l->value);
  if (const auto* p = std::get_if<core::ParamUse>(&e.node())) return Expr(Int(params_.at(p->name)));
  if (const auto* n = std::get_if<core::Negate>(&e.node())) return -expression(n->operand);
  const auto& b = std::get<core::Binary>(e.node());
  Expr left = expression(b.left), right = expression(b.right);
  if (b.op == core::BinaryOp::Add) return left + right;
  return b.op == core::BinaryOp::Subtract ? left - right : left * right;
}

Onto FromModule::onto(const core::GridRef& ref) const {
  auto plain = [&]() -> Onto {
    if (ref.grid) return grid(*ref.grid);
    auto found = machines_.find(ref.name.text);
    if (found == machines_.end()) {
      const TensorHandle& tensor = tensors_.at(ref.name.text);
      return ref.level ? Onto(tensor, *ref.level) : Onto(tensor);
    }
    return ref.level ? Onto(found->second[*ref.level]) : Onto(found->second);
  };
  if (!ref.notation) return plain();
  Onto out(plain(), roles(*ref.notation));
  for (const auto& [name, block] : ref.notation->cyclic) out.cyclic(dimension_of(*ref.notation, name), number(block));
  return out;
}

void FromModule::add_command(Schedule& schedule, const core::Command& command) const {
  auto v = [&](size_t i) { return variable(std::get<core::IndexVar>(command.arguments[i])); };
  auto vs = [&](size_t i) { return variables(std::get<std::vector<core::IndexVar>>(command.arguments[i])); };
  auto n = [&](size_t i) { return number(std::get<core::IntExpr>(command.arguments[i])); };
  auto word = [&](size_t i) { return std::get<core::Name>(command.arguments[i]).text; };
  auto grid = [&](size_t i) { return onto(std::get<core::GridRef>(command.arguments[i])); };
  const std::string& name = command.name;
  size_t count = command.arguments.size();
  if (name == "split") {
    schedule.split(v(0), v(1), v(2), n(3));
  } else if (name == "divide") {
    schedule.divide(v(0), v(1), v(2), n(3));
  } else if (name == "collapse") {
    schedule.collapse(v(0), v(1), v(2));
  } else if (name == "reorder") {
    schedule.reorder(vs(0));
  } else if (name == "distribute") {
    if (count == 1) schedule.distribute(vs(0));
    if (count == 2) schedule.distribute(vs(0), grid(1));
    if (count == 4) schedule.distribute(vs(0), vs(1), vs(2), grid(3));
  } else if (name == "communicate") {
    std::vector<TensorHandle> named;
    for (const core::Name& t : std::get<std::vector<core::Name>>(command.arguments[0])) {
      named.push_back(tensors_.at(t.text));
    }
    schedule.communicate(named, v(1));
  } else if (name == "rotate") {
    schedule.rotate(v(0), vs(1), v(2));
  } else if (name == "substitute") {
    schedule.substitute(vs(0), {word(1)});
  } else if (name == "parallelize") {
    schedule.parallelize(v(0), count == 1               ? OutputRace::None
                               : word(1) == "reduction" ? OutputRace::Reduction
                                                        : OutputRace::Atomics);
  } else if (name == "unroll") {
    schedule.unroll(v(0), n(1));
  } else if (name == "vectorize") {
    schedule.vectorize(v(0));
  } else if (name == "precompute") {
    Expr part = expression(std::get<core::Expr>(command.arguments[0]));
    auto home = tensors_.find(word(3));
    home == tensors_.end() ? schedule.precompute(part, vs(1), vs(2), word(3))
                           : schedule.precompute(part, vs(1), vs(2), home->second);
  } else {
    throw std::logic_error("C++ has no command " + name);
  }
}

}  // namespace distal
