#include "shrink.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <vector>

#include "lang/parse.h"

namespace distal::core::property {

namespace {

using Candidates = std::vector<Module>;

template <class T>
std::vector<T> without(std::vector<T> list, size_t at) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  return list;
}

// ---- statements and schedules ----

void drop_statements(const Module& m, Candidates& out) {
  for (size_t s = 0; m.statements.size() > 1 && s < m.statements.size(); ++s) {
    out.push_back(m);
    out.back().statements = without(m.statements, s);
  }
}

void drop_commands(const Module& m, Candidates& out) {
  for (size_t s = 0; s < m.statements.size(); ++s) {
    const std::vector<Command>& schedule = m.statements[s].schedule;
    if (schedule.size() > 1) {
      out.push_back(m);
      out.back().statements[s].schedule.clear();
    }
    for (size_t c = schedule.size(); c-- > 0;) {
      out.push_back(m);
      out.back().statements[s].schedule = without(schedule, c);
    }
  }
}

// Shortens each list of more than one name.
void shorten_commands(const Module& m, Candidates& out) {
  for (size_t s = 0; s < m.statements.size(); ++s) {
    for (size_t c = 0; c < m.statements[s].schedule.size(); ++c) {
      const std::vector<Argument>& arguments = m.statements[s].schedule[c].arguments;
      for (size_t a = 0; a < arguments.size(); ++a) {
        auto shorten = [&](const auto& list) {
          for (size_t i = 0; list.size() > 1 && i < list.size(); ++i) {
            out.push_back(m);
            out.back().statements[s].schedule[c].arguments[a] = without(list, i);
          }
        };
        if (const auto* loops = std::get_if<std::vector<IndexVar>>(&arguments[a])) shorten(*loops);
        if (const auto* names = std::get_if<std::vector<Name>>(&arguments[a])) shorten(*names);
      }
    }
  }
}

// ---- expressions ----

std::vector<Expr> smaller(const Expr& e) {
  std::vector<Expr> out;
  if (const auto* n = std::get_if<Negate>(&e.node())) {
    out.push_back(n->operand);
    for (const Expr& x : smaller(n->operand)) out.push_back(Expr::negate(x));
  }
  if (const auto* b = std::get_if<Binary>(&e.node())) {
    out.push_back(b->left);
    out.push_back(b->right);
    for (const Expr& x : smaller(b->left)) out.push_back(Expr::binary(b->op, x, b->right));
    for (const Expr& x : smaller(b->right)) out.push_back(Expr::binary(b->op, b->left, x));
    if (b->op == BinaryOp::Subtract) out.push_back(Expr::binary(BinaryOp::Add, b->left, b->right));
  }
  return out;
}

void simplify_statements(const Module& m, Candidates& out) {
  for (size_t s = 0; s < m.statements.size(); ++s) {
    const Statement& statement = m.statements[s].statement;
    for (const Expr& e : smaller(statement.rhs)) {
      out.push_back(m);
      out.back().statements[s].statement.rhs = e;
    }
    if (accumulates(statement.op)) {
      out.push_back(m);
      out.back().statements[s].statement.op = AssignOp::Assign;
    }
  }
}

Access without_index(Access a, size_t d) {
  a.indices = without(a.indices, d);
  if (a.is_shifted()) a.shifts = without(a.shifts, d);
  return a;
}

Expr without_index(const Expr& e, const std::string& tensor, size_t d) {
  if (const auto* a = std::get_if<Access>(&e.node())) {
    if (a->tensor != tensor) return e;
    return Expr(without_index(*a, d));
  }
  if (const auto* n = std::get_if<Negate>(&e.node())) return Expr::negate(without_index(n->operand, tensor, d));
  if (const auto* b = std::get_if<Binary>(&e.node())) {
    return Expr::binary(b->op, without_index(b->left, tensor, d), without_index(b->right, tensor, d));
  }
  return e;
}

// ---- tensors ----

// Removes a dimension of one tensor, in its declaration and in every access.
void drop_tensor_dimension(const Module& m, size_t t, size_t d, Candidates& out) {
  out.push_back(m);
  Module& made = out.back();
  Tensor& tensor = made.tensors[t];
  tensor.dimensions = without(tensor.dimensions, d);
  tensor.order.clear();
  for (size_t i = 0; i < tensor.dimensions.size(); ++i) tensor.order.push_back(static_cast<int>(i));
  if (tensor.distribution) {
    for (LevelDistribution& level : tensor.distribution->levels) {
      std::string name = level.tensor_dimensions[d];
      level.tensor_dimensions = without(level.tensor_dimensions, d);
      level.cyclic.erase(name);
      for (MachineDimension& role : level.machine_dimensions) {
        const auto* partition = std::get_if<Partition>(&role.role);
        if (partition && partition->name == name) role.role = Fix{IntExpr(0)};
      }
    }
  }
  for (ScheduledStatement& s : made.statements) {
    if (s.statement.lhs.tensor == tensor.name) s.statement.lhs = without_index(s.statement.lhs, d);
    s.statement.rhs = without_index(s.statement.rhs, tensor.name, d);
  }
}

void simplify_tensors(const Module& m, Candidates& out) {
  for (size_t t = 0; t < m.tensors.size(); ++t) {
    auto add = [&]() -> Tensor& {
      out.push_back(m);
      return out.back().tensors[t];
    };
    add() = m.tensors[t];
    out.back().tensors = without(m.tensors, t);  // legal only if nothing uses it
    for (size_t d = 0; d < m.tensors[t].dimensions.size(); ++d) drop_tensor_dimension(m, t, d, out);
    if (!std::is_sorted(m.tensors[t].order.begin(), m.tensors[t].order.end())) {
      std::vector<int>& order = add().order;
      std::sort(order.begin(), order.end());
    }
    if (!m.tensors[t].distribution) continue;
    add().distribution.reset();
    out.back().tensors[t].machine.reset();
    const std::vector<LevelDistribution>& levels = m.tensors[t].distribution->levels;
    for (size_t l = 0; l < levels.size(); ++l) {
      if (!levels[l].cyclic.empty()) add().distribution->levels[l].cyclic.clear();
      for (size_t d = 0; d < levels[l].machine_dimensions.size(); ++d) {
        const auto* fix = std::get_if<Fix>(&levels[l].machine_dimensions[d].role);
        if (fix && fix->face.is_constant(0)) continue;
        LevelDistribution& level = add().distribution->levels[l];
        const auto* partition = std::get_if<Partition>(&level.machine_dimensions[d].role);
        if (partition) level.cyclic.erase(partition->name);
        level.machine_dimensions[d].role = Fix{IntExpr(0)};
      }
    }
  }
}

// ---- machines ----

// Removes a level, or a dimension of a level, from the machine and from everything on it. Adjusts references to levels
// by number.
void drop_machine_part(const Module& m, size_t level, int dimension, Candidates& out) {
  auto cut_machine = [&](Machine& machine) {
    if (dimension < 0) {
      machine.levels = without(machine.levels, level);
    } else {
      machine.levels[level].extents = without(machine.levels[level].extents, static_cast<size_t>(dimension));
    }
  };
  out.push_back(m);
  Module& made = out.back();
  for (Machine& machine : made.machines) cut_machine(machine);
  for (Tensor& t : made.tensors) {
    if (t.machine) cut_machine(*t.machine);
    if (!t.distribution) continue;
    std::vector<LevelDistribution>& levels = t.distribution->levels;
    if (dimension < 0) {
      levels = without(levels, level);
      continue;
    }
    const MachineDimension role = levels[level].machine_dimensions[static_cast<size_t>(dimension)];
    if (const auto* partition = std::get_if<Partition>(&role.role)) levels[level].cyclic.erase(partition->name);
    levels[level].machine_dimensions = without(levels[level].machine_dimensions, static_cast<size_t>(dimension));
  }
  if (dimension >= 0) return;
  for (ScheduledStatement& s : made.statements) {
    for (Command& c : s.schedule) {
      for (Argument& argument : c.arguments) {
        auto* onto = std::get_if<GridRef>(&argument);
        if (onto && onto->level && *onto->level > static_cast<int>(level)) --*onto->level;
      }
    }
  }
}

void simplify_machine(const Module& m, Candidates& out) {
  if (m.machines.size() != 1) return;
  const std::vector<Grid>& levels = m.machines[0].levels;
  for (size_t l = 0; l < levels.size(); ++l) {
    if (levels.size() > 1) drop_machine_part(m, l, -1, out);
    for (size_t d = 0; levels[l].extents.size() > 1 && d < levels[l].extents.size(); ++d) {
      drop_machine_part(m, l, static_cast<int>(d), out);
    }
  }
  for (size_t t = 0; t < m.tensors.size(); ++t) {
    if (!m.tensors[t].machine || !m.tensors[t].machine->name.empty()) continue;
    out.push_back(m);
    out.back().tensors[t].machine = m.machines[0];
  }
}

// ---- numbers ----

void simplify_numbers(const Module& m, Candidates& out) {
  for (size_t p = 0; p < m.params.size(); ++p) {
    out.push_back(m);
    out.back().params = without(m.params, p);  // legal only if nothing uses it
    if (!m.params[p].value.is_constant()) continue;
    int64_t value = m.params[p].value.value();
    for (int64_t smaller_value : {int64_t{1}, value / 2, value - 1}) {
      if (smaller_value < 1 || smaller_value >= value) continue;
      out.push_back(m);
      out.back().params[p].value = IntExpr(smaller_value);
    }
  }
  if (m.type != ElementType::Int64) {
    out.push_back(m);
    out.back().type = ElementType::Int64;
  }
}

// Replaces the params in machine extents by their values, so that each extent can shrink by itself.
Module with_numbers(const Module& m) {
  Bindings params = distal::core::bind(m, {});
  Module out = m;
  auto settle = [&](IntExpr& e) { e = IntExpr(e.evaluate(params)); };
  auto settle_machine = [&](Machine& machine) {
    for (Grid& g : machine.levels) {
      for (IntExpr& e : g.extents) settle(e);
    }
  };
  for (Machine& machine : out.machines) settle_machine(machine);
  for (Tensor& t : out.tensors) {
    if (t.machine) settle_machine(*t.machine);
  }
  return out;
}

void shrink_machine_numbers(const Module& m, Candidates& out) {
  if (m.machines.size() != 1) return;
  try {
    Module plain = with_numbers(m);
    if (!(plain == m)) out.push_back(plain);
  } catch (const Error&) {  // a number is wrong, so the program fails earlier than here
    return;
  }
  for (size_t l = 0; l < m.machines[0].levels.size(); ++l) {
    for (size_t d = 0; d < m.machines[0].levels[l].extents.size(); ++d) {
      const IntExpr& extent = m.machines[0].levels[l].extents[d];
      if (!extent.is_constant() || extent.value() <= 1) continue;
      for (int64_t value : {int64_t{1}, extent.value() - 1}) {
        out.push_back(m);
        for (Machine& machine : out.back().machines) machine.levels[l].extents[d] = IntExpr(value);
        for (Tensor& t : out.back().tensors) {
          if (t.machine) t.machine->levels[l].extents[d] = IntExpr(value);
        }
      }
    }
  }
}

void shrink_command_numbers(const Module& m, Candidates& out) {
  for (size_t s = 0; s < m.statements.size(); ++s) {
    for (size_t c = 0; c < m.statements[s].schedule.size(); ++c) {
      const std::vector<Argument>& arguments = m.statements[s].schedule[c].arguments;
      for (size_t a = 0; a < arguments.size(); ++a) {
        const auto* number = std::get_if<IntExpr>(&arguments[a]);
        if (!number || number->is_constant()) continue;
        for (int64_t value = 1; value <= 3; ++value) {
          out.push_back(m);
          out.back().statements[s].schedule[c].arguments[a] = IntExpr(value);
        }
      }
    }
  }
}

std::vector<std::string> smaller_modules(const std::string& text) {
  Module m = parse_module(text, "shrinking");
  Candidates made;
  drop_statements(m, made);
  drop_commands(m, made);
  simplify_machine(m, made);
  simplify_tensors(m, made);
  simplify_statements(m, made);
  shorten_commands(m, made);
  simplify_numbers(m, made);
  shrink_machine_numbers(m, made);
  shrink_command_numbers(m, made);
  std::vector<std::string> out;
  for (const Module& candidate : made) out.push_back(to_string(candidate));
  return out;
}

// For a program that cannot be parsed and printed: removes one line at a time.
std::vector<std::string> fewer_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line + "\n");
  std::vector<std::string> out;
  for (size_t l = 0; l < lines.size(); ++l) {
    if (lines[l].starts_with("type")) continue;  // integers are easier to read than the default type
    std::string joined;
    for (const std::string& line : without(lines, l)) joined += line;
    out.push_back(joined);
  }
  return out;
}

std::vector<std::string> candidates(const std::string& text) {
  std::vector<std::string> out;
  try {
    out = smaller_modules(text);
  } catch (const std::exception&) {  // not parsed: only lines can be removed
  }
  std::vector<std::string> lines = fewer_lines(text);
  out.insert(out.end(), lines.begin(), lines.end());
  return out;
}

}  // namespace

std::string shrink(const std::string& text, const StillFails& still_fails) {
  std::string best = text;
  std::set<std::string> tried{best};  // so that steps that do not shrink the program cannot repeat forever
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const std::string& candidate : candidates(best)) {
      if (!tried.insert(candidate).second || !still_fails(candidate)) continue;
      best = candidate;
      smaller = true;
      break;
    }
  }
  return best;
}

}  // namespace distal::core::property
