#include "lang/parse_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lang/parse_int.h"
#include "lang/parse_machine.h"
#include "lang/parse_statement.h"
#include "lang/read_distribution.h"
#include "lang/resolve_distribution.h"
#include "lang/suggest.h"

namespace distal::core {

namespace {

struct CommandForm {
  std::string name;
  std::string usage;  // shown when the arguments do not fit
};

const std::vector<CommandForm>& command_forms() {
  static const std::vector<CommandForm> forms = {
      {"split", "split(k, ko, ki, size)"},
      {"divide", "divide(k, ko, ki, parts)"},
      {"collapse", "collapse(i, j, f)"},
      {"reorder", "reorder({i, j, k})"},
      {"distribute", "distribute(io), distribute({io, jo}, M) or distribute({i, j}, {io, jo}, {ii, ji}, M)"},
      {"communicate", "communicate({A, B}, k)"},
      {"rotate", "rotate(k, {i, j}, r)"},
      {"substitute", "substitute({i, j, k}, gemm)"},
      {"parallelize", "parallelize(i), parallelize(k, reduction) or parallelize(k, atomics)"},
      {"unroll", "unroll(i, factor)"},
      {"vectorize", "vectorize(i)"},
      {"precompute", "precompute(B(i, k) * C(k, j), {j}, {jw}, W)"},
  };
  return forms;
}

// One argument of a command: the tokens between two commas, read only when the command says as what.
struct Argument {
  std::vector<Name> names;  // {a, b}, or the single a
  bool braced = false;
  std::optional<GridRef> grid;  // M, M[1] or Grid(gx, gy)
  SourceSpan span;
};

class CommandParser {
 public:
  CommandParser(TokenStream& tokens, const Module& module) : tokens_(tokens), module_(module) {}

  Command run() {
    first_ = tokens_.expect_identifier("a schedule command");
    auto it = std::find_if(command_forms().begin(), command_forms().end(),
                           [&](const CommandForm& form) { return form.name == first_.text; });
    if (it == command_forms().end()) refuse_unknown();
    form_ = *it;
    Command command{action(), {}};
    command.span = tokens_.span_from(first_);
    return command;
  }

 private:
  using Action = decltype(Command::action);

  Action action() {
    if (form_.name == "split") return cut<SplitCommand>();
    if (form_.name == "divide") return cut<DivideCommand>();
    if (form_.name == "unroll") return unroll();
    if (form_.name == "precompute") return precompute();
    std::vector<Argument> args = form_.name == "distribute" ? distribute_arguments() : arguments();
    if (form_.name == "collapse") return collapse(args);
    if (form_.name == "reorder") return reorder(args);
    if (form_.name == "distribute") return distribute(args);
    if (form_.name == "communicate") return communicate(args);
    if (form_.name == "rotate") return rotate(args);
    if (form_.name == "substitute") return substitute(args);
    if (form_.name == "vectorize") return vectorize(args);
    return parallelize(args);
  }

  // split and divide: three variables and an integer expression.
  template <class Cut>
  Cut cut() {
    std::vector<IndexVar> names;
    std::optional<IntExpr> number;
    size_t count = 0;
    tokens_.list("(", "`(`", [&] {
      if (++count < 4) {
        Name variable = name();
        names.push_back({variable.text, variable.span});
      } else {
        number = parse_int_expr(tokens_, module_).value;
      }
    });
    check_count(count, {4});
    return Cut{names[0], names[1], names[2], *number};
  }

  Action collapse(const std::vector<Argument>& args) const {
    check_count(args.size(), {3});
    return CollapseCommand{variable(args[0]), variable(args[1]), variable(args[2])};
  }

  Action reorder(const std::vector<Argument>& args) const {
    if (args.size() == 1) return ReorderCommand{variables(args[0])};
    if (args.empty()) check_count(0, {1});
    std::vector<IndexVar> order;
    for (const Argument& arg : args) order.push_back(variable(arg));
    return ReorderCommand{order};
  }

  Action distribute(const std::vector<Argument>& args) const {
    check_count(args.size(), {1, 2, 4});
    if (args.size() == 1) return DistributeCommand{variables(args[0]), std::nullopt};
    if (args.size() == 2) return DistributeCommand{variables(args[0]), grid(args[1])};
    return DistributeOntoCommand{any_variables(args[0]), any_variables(args[1]), any_variables(args[2]), grid(args[3])};
  }

  Action communicate(const std::vector<Argument>& args) const {
    check_count(args.size(), {2});
    check_names(args[0]);
    return CommunicateCommand{args[0].names, variable(args[1])};
  }

  Action rotate(const std::vector<Argument>& args) const {
    check_count(args.size(), {3});
    return RotateCommand{variable(args[0]), variables(args[1]), variable(args[2])};
  }

  Action substitute(const std::vector<Argument>& args) const {
    check_count(args.size(), {2});
    IndexVar kernel = variable(args[1]);
    return SubstituteCommand{variables(args[0]), Name{kernel.name, kernel.span}};
  }

  Action parallelize(const std::vector<Argument>& args) const {
    check_count(args.size(), {1, 2});
    ParallelizeCommand command{variable(args[0]), Race::None};
    if (args.size() == 1) return command;
    std::string how = variable(args[1]).name;
    for (Race race : {Race::Reduction, Race::Atomics}) {
      if (how == to_string(race)) command.race = race;
    }
    if (command.race == Race::None) refuse_argument(args[1], "`reduction` or `atomics`");
    return command;
  }

  Action vectorize(const std::vector<Argument>& args) const {
    check_count(args.size(), {1});
    return VectorizeCommand{variable(args[0])};
  }

  Action unroll() {
    std::optional<IndexVar> loop;
    std::optional<IntExpr> factor;
    size_t count = 0;
    tokens_.list("(", "`(`", [&] {
      if (++count == 1) {
        Name n = name();
        loop = IndexVar{n.text, n.span};
      } else {
        factor = parse_int_expr(tokens_, module_).value;
      }
    });
    check_count(count, {2});
    return UnrollCommand{*loop, *factor};
  }

  Action precompute() {
    std::optional<Expr> expr;
    std::vector<Argument> args;
    tokens_.list("(", "`(`", [&] {
      if (!expr) {
        expr = parse_expression(tokens_, module_);
      } else {
        args.push_back(argument());
      }
    });
    check_count(args.size() + (expr ? 1 : 0), {4});
    IndexVar workspace = variable(args[2]);
    return PrecomputeCommand{*expr, listed(args[0]), listed(args[1]), Name{workspace.name, workspace.span}};
  }

  // A list that may be empty: a workspace of one element runs no loop again.
  std::vector<IndexVar> listed(const Argument& arg) const {
    return arg.braced && arg.names.empty() ? std::vector<IndexVar>{} : variables(arg);
  }

  std::vector<Argument> arguments() {
    std::vector<Argument> args;
    tokens_.list("(", "`(`", [&] { args.push_back(argument()); });
    return args;
  }

  // The last argument of the compound form may be a notation, whose X has one name a target.
  std::vector<Argument> distribute_arguments() {
    std::vector<Argument> args;
    tokens_.list("(", "`(`", [&] { args.push_back(args.size() == 3 ? onto(args[0].names.size()) : argument()); });
    return args;
  }

  Argument onto(size_t targets) {
    if (!at_notation()) return argument();
    const Token first = tokens_.peek();
    RawDistribution raw = read_distribution(tokens_, module_);
    if (!tokens_.peek().is_word("on")) {
      tokens_.refuse("`on` and a machine after the distribution", "write for instance `xy -> yx on M`");
    }
    tokens_.next();
    Argument arg = argument();
    if (!arg.grid) refuse_argument(arg, "a machine, a level of it or a grid");
    Tensor space;
    space.name = "the iteration space";
    space.dimensions.assign(targets, IntExpr(1));
    arg.grid->notation = resolve_distribution(raw, space, machine_of(*arg.grid), module_).levels[0];
    arg.span = arg.grid->span = tokens_.span_from(first);
    return arg;
  }

  // Whether an arrow comes before the argument ends.
  bool at_notation() const {
    for (size_t i = 0; !tokens_.peek(i).is(")") && tokens_.peek(i).kind != Token::Kind::End; ++i) {
      if (tokens_.peek(i).is("->")) return true;
    }
    return false;
  }

  // The one grid that a notation speaks of.
  Machine machine_of(const GridRef& ref) const {
    if (ref.grid) return Machine{"", {*ref.grid}, ref.span};
    const Machine* machine = module_.find_machine(ref.name.text);
    const Tensor* tensor = module_.find_tensor(ref.name.text);
    if (!machine && tensor && tensor->machine) machine = &*tensor->machine;  // the machine that the tensor is on
    if (!machine) {
      throw Error(fmt::format("unknown machine `{}`", ref.name.text), ref.span,
                  "a notation ends with `on` and a machine, a level of it or a grid");
    }
    if (!ref.level && machine->levels.size() == 1) return *machine;
    if (!ref.level || *ref.level >= static_cast<int>(machine->levels.size())) {
      throw Error(fmt::format("{} has {} level{}, and a notation speaks of one", machine->name, machine->levels.size(),
                              machine->levels.size() == 1 ? "" : "s"),
                  ref.span, fmt::format("name one of {0}[0] to {0}[{1}]", machine->name, machine->levels.size() - 1));
    }
    return Machine{machine->name, {machine->levels[static_cast<size_t>(*ref.level)]}, ref.span};
  }

  Argument argument() {
    const Token first = tokens_.peek();
    Argument arg;
    if (first.is("{")) {
      arg.braced = true;
      tokens_.list("{", "`{`", [&] { arg.names.push_back(name()); });
    } else if (at_grid(tokens_)) {
      Grid grid = parse_grid(tokens_, module_);
      arg.grid = GridRef{{}, std::nullopt, grid, std::nullopt, grid.span};
    } else {
      arg.names.push_back(name());
      arg.grid = GridRef{arg.names.front(), level(), std::nullopt, std::nullopt, tokens_.span_from(first)};
    }
    arg.span = tokens_.span_from(first);
    return arg;
  }

  Name name() {
    if (!tokens_.peek().is_identifier()) tokens_.refuse("a name", "write " + form_.usage);
    const Token& token = tokens_.next();
    return {std::string(token.text), token.span};
  }

  // The 1 of M[1].
  std::optional<int> level() {
    if (!tokens_.peek().is("[")) return std::nullopt;
    const Token open = tokens_.next();
    if (tokens_.peek().kind != Token::Kind::Number) {
      tokens_.refuse("the number of a level", "`M[0]` is the outermost level of a machine M");
    }
    const Token& number = tokens_.next();
    int64_t value = integer_value(number);
    if (value > std::numeric_limits<int>::max()) {
      throw Error(fmt::format("there is no level {}", value), number.span, "levels count from 0");
    }
    tokens_.expect_close(open);
    return static_cast<int>(value);
  }

  void check_count(size_t have, std::initializer_list<size_t> legal) const {
    if (std::find(legal.begin(), legal.end(), have) != legal.end()) return;
    std::string counts;
    for (size_t n : legal)
      counts += (counts.empty() ? "" : n == *(legal.end() - 1) ? " or " : ", ") + std::to_string(n);
    throw Error(fmt::format("`{}` takes {} argument{}, {} given", form_.name, counts, counts == "1" ? "" : "s", have),
                tokens_.span_from(first_), "write " + form_.usage);
  }

  [[noreturn]] void refuse_argument(const Argument& arg, const std::string& expected) const {
    throw Error(fmt::format("`{}` expects {} here", form_.name, expected), arg.span, "write " + form_.usage);
  }

  bool is_plain(const Argument& arg) const { return !arg.grid || (!arg.grid->grid && !arg.grid->level); }

  void check_names(const Argument& arg) const {
    if (!is_plain(arg)) refuse_argument(arg, "a name or a list of names");
    if (arg.names.empty()) refuse_argument(arg, "at least one name");
  }

  IndexVar variable(const Argument& arg) const {
    if (!is_plain(arg) || arg.names.size() != 1) refuse_argument(arg, "one name");
    return {arg.names.front().text, arg.names.front().span};
  }

  std::vector<IndexVar> variables(const Argument& arg) const {
    check_names(arg);
    return any_variables(arg);
  }

  // A tensor that nothing cuts is followed by no loop: the lists of a compound distribute may be empty.
  std::vector<IndexVar> any_variables(const Argument& arg) const {
    if (!is_plain(arg)) refuse_argument(arg, "a name or a list of names");
    std::vector<IndexVar> out;
    for (const Name& n : arg.names) out.push_back({n.text, n.span});
    return out;
  }

  GridRef grid(const Argument& arg) const {
    if (arg.braced || !arg.grid) refuse_argument(arg, "a machine, a level of it, a tensor or a grid");
    return *arg.grid;
  }

  [[noreturn]] void refuse_unknown() const {
    std::string name(first_.text);
    throw Error(fmt::format("unknown schedule command `{}`", name), first_.span,
                fmt::format("the commands are {}{}", listing(command_names()), did_you_mean(name, command_names())));
  }

  TokenStream& tokens_;
  const Module& module_;
  Token first_;
  CommandForm form_;
};

// A command is NAME(...) that no = follows; a tensor may have a command's name. A tensor's name that is no command
// begins a statement whose = is missing, which the parser of statements reports better.
bool at_command(const TokenStream& tokens, const Module& module) {
  if (tokens.peek().is(".")) return true;
  if (!tokens.peek().is_identifier() || !tokens.peek(1).is("(") || tokens.at_assignment()) return false;
  std::string name(tokens.peek().text);
  bool known = std::find(command_names().begin(), command_names().end(), name) != command_names().end();
  return known || module.find_tensor(name) == nullptr;
}

}  // namespace

std::vector<Command> parse_schedule(TokenStream& tokens, const Module& module) {
  std::vector<Command> commands;
  while (at_command(tokens, module)) {
    tokens.accept(".");
    commands.push_back(CommandParser(tokens, module).run());
  }
  return commands;
}

const std::vector<std::string>& command_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const CommandForm& form : command_forms()) out.push_back(form.name);
    return out;
  }();
  return names;
}

}  // namespace distal::core
