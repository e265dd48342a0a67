#include "lang/parse_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "lang/check_parts.h"
#include "lang/foreign.h"
#include "lang/parse_int.h"
#include "lang/parse_machine.h"
#include "lang/parse_statement.h"
#include "lang/read_distribution.h"
#include "lang/resolve_distribution.h"
#include "lang/suggest.h"

namespace distal::core {

namespace {

// The tokens between two commas. What they mean is known when all arguments are read, because the signature of a
// command may depend on their number.
struct Written {
  std::vector<Name> names;  // {a, b}, or the single a
  bool braced = false;
  std::optional<GridRef> grid;             // M, M[1] or Grid(gx, gy)
  std::optional<Argument> number_or_part;  // what only a number or a part of the right side can be
  SourceSpan span;
};

class CommandParser {
 public:
  // `before` has the commands that stand before this one in the schedule.
  CommandParser(TokenStream& tokens, const Module& module, const std::vector<Command>& before)
      : tokens_(tokens), module_(module), before_(before) {}

  Command run() {
    first_ = tokens_.expect_identifier("a schedule command");
    for (const Signature& s : signatures()) {
      if (s.name == first_.text) forms_.push_back(&s);
    }
    if (forms_.empty()) refuse_unknown();
    std::vector<Written> written;
    tokens_.list("(", "`(`", [&] { written.push_back(read(written)); });
    Command command{std::string(first_.text), arguments(written), {}};
    command.span = tokens_.span_from(first_);
    return command;
  }

 private:
  // ---- reading ----

  Written read(const std::vector<Written>& before) {
    // The forms of a command agree on where numbers and parts stand.
    const std::vector<Parameter>& longest = forms_.back()->parameters;
    const Parameter& parameter = longest[std::min(before.size(), longest.size() - 1)];
    const Token first = tokens_.peek();
    Written out;
    if (parameter.kind == Parameter::Kind::Number) {
      out.number_or_part = parse_int_expr(tokens_);
    } else if (parameter.kind == Parameter::Kind::Part) {
      out.number_or_part = parse_expression(tokens_, module_, workspaces());
    } else if (parameter.may_be_notation && at_notation()) {
      return read_notation(before[0].names.size());
    } else if (first.is("{")) {
      out.braced = true;
      tokens_.list("{", "`{`", [&] { out.names.push_back(name()); });
    } else if (at_grid(tokens_)) {
      Grid grid = parse_grid(tokens_);
      out.grid = GridRef{{}, std::nullopt, grid, std::nullopt, grid.span};
    } else {
      if (parameter.kind == Parameter::Kind::Onto && first.kind == Token::Kind::Number) {
        tokens_.refuse("a machine, a level of it, a tensor or a grid", "a grid is written `Grid(4)`");
      }
      out.names.push_back(name());
      out.grid = GridRef{out.names.front(), level(), std::nullopt, std::nullopt, tokens_.span_from(first)};
    }
    out.span = tokens_.span_from(first);
    return out;
  }

  // The names in earlier commands that precompute: a part may use the workspaces of these.
  std::vector<std::string> workspaces() const {
    std::vector<std::string> out;
    for (const Command& c : before_) {
      if (c.name != first_.text) continue;
      for (const Argument& a : c.arguments) {
        if (const auto* name = std::get_if<Name>(&a)) out.push_back(name->text);
      }
    }
    return out;
  }

  // A notation, which has a name for each target, and the grid that it is for.
  Written read_notation(size_t targets) {
    const Token first = tokens_.peek();
    RawDistribution raw = read_distribution(tokens_);
    if (!tokens_.peek().is_word("on")) {
      tokens_.refuse("`on` and a machine after the distribution", "write for instance `xy -> yx on M`");
    }
    tokens_.next();
    Written out = read({});
    if (!out.grid) refuse_argument(out.span, "a machine, a level of it or a grid");
    Machine machine = machine_of_notation(*out.grid, module_);
    out.grid->notation = resolve_distribution(raw, {"the iteration space", targets}, &machine, module_).levels[0];
    out.span = out.grid->span = tokens_.span_from(first);
    return out;
  }

  // Whether an arrow comes before the argument ends.
  bool at_notation() const {
    for (size_t i = 0; !tokens_.peek(i).is(")") && tokens_.peek(i).kind != Token::Kind::End; ++i) {
      if (tokens_.peek(i).is("->")) return true;
    }
    return false;
  }

  Name name() {
    if (tokens_.peek().is("[") || tokens_.peek().is("(")) {
      tokens_.refuse("a name or a list", "a list of names stands in braces, as in `{i, j}`");
    }
    if (!tokens_.peek().is_identifier()) tokens_.refuse("a name", "write " + forms_[0]->usage);
    const Token& token = tokens_.next();
    if (tokens_.peek().is(":") && tokens_.peek(1).is(":")) {
      tokens_.refuse("one name", "a kernel has the name `gemm` in a file, and `BLAS::GeMM` in C++");
    }
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

  // ---- meaning ----

  std::vector<Argument> arguments(std::vector<Written>& written) const {
    const Signature& first = *forms_[0];
    if (first.parameters[0].may_be_spread && written.size() > 1) {
      std::vector<IndexVar> spread;
      for (const Written& w : written) spread.push_back(variable(w));
      return {spread};
    }
    auto fits = [&](const Signature* s) { return s->takes(written.size()); };
    auto form = std::find_if(forms_.begin(), forms_.end(), fits);
    if (form == forms_.end()) refuse_count(written.size());
    std::vector<Argument> out;
    for (size_t i = 0; i < written.size(); ++i) {
      const Parameter& parameter = (*form)->parameters[i];
      out.push_back(argument(parameter, written[i]));
      require_fit(**form, parameter, out.back(), written[i].span);
    }
    return out;
  }

  Argument argument(const Parameter& parameter, const Written& written) const {
    switch (parameter.kind) {
      case Parameter::Kind::Loop: return variable(written);
      case Parameter::Kind::Name: return Name{variable(written).name, written.names[0].span};
      case Parameter::Kind::Loops: return variables(written);
      case Parameter::Kind::Names: return names(written);
      case Parameter::Kind::Number:
      case Parameter::Kind::Part: return *written.number_or_part;
      case Parameter::Kind::Onto:
        if (written.braced || !written.grid) {
          refuse_argument(written.span, "a machine, a level of it, a tensor or a grid");
        }
        return *written.grid;
    }
    throw InternalError("unknown kind of parameter");
  }

  static bool is_plain(const Written& w) { return !w.grid || (!w.grid->grid && !w.grid->level); }

  IndexVar variable(const Written& w) const {
    if (!is_plain(w) || w.names.size() != 1) refuse_argument(w.span, "one name");
    return {w.names.front().text, w.names.front().span};
  }

  const std::vector<Name>& names(const Written& w) const {
    if (!is_plain(w)) refuse_argument(w.span, "a name or a list of names");
    return w.names;
  }

  std::vector<IndexVar> variables(const Written& w) const {
    std::vector<IndexVar> out;
    for (const Name& n : names(w)) out.push_back({n.text, n.span});
    return out;
  }

  // ---- refusals ----

  [[noreturn]] void refuse_count(size_t have) const {
    std::set<size_t> legal;
    for (const Signature* s : forms_) {
      for (size_t n = s->required; n <= s->parameters.size(); ++n) legal.insert(n);
    }
    std::string counts;
    for (size_t n : legal) counts += (counts.empty() ? "" : n == *legal.rbegin() ? " or " : ", ") + std::to_string(n);
    throw Error(fmt::format("`{}` takes {} argument{}, {} given", first_.text, counts, counts == "1" ? "" : "s", have),
                tokens_.span_from(first_), "write " + forms_[0]->usage);
  }

  [[noreturn]] void refuse_argument(const SourceSpan& span, const std::string& expected) const {
    core::refuse_argument(*forms_[0], expected, span);
  }

  [[noreturn]] void refuse_unknown() const {
    std::string name(first_.text);
    std::string help = foreign_command(name);
    if (help.empty()) {
      help = fmt::format("the commands are {}{}", listing(command_names()), did_you_mean(name, command_names()));
    }
    throw Error(fmt::format("unknown schedule command `{}`", name), first_.span, help);
  }

  TokenStream& tokens_;
  const Module& module_;
  const std::vector<Command>& before_;
  Token first_;
  std::vector<const Signature*> forms_;  // the signatures of the command's name
};

}  // namespace

// A command is NAME(...) that no = follows; a tensor may have a command's name. A tensor's name that is no command
// begins a statement whose = is missing, which the parser of statements reports better.
bool at_command(const TokenStream& tokens, const Module& module) {
  if (tokens.peek().is(".")) return true;
  if (!tokens.peek().is_identifier() || !tokens.peek(1).is("(") || tokens.at_assignment()) return false;
  std::string name(tokens.peek().text);
  bool known = std::find(command_names().begin(), command_names().end(), name) != command_names().end();
  return known || module.find_tensor(name) == nullptr;
}

Command parse_command(TokenStream& tokens, const Module& module, const std::vector<Command>& before) {
  tokens.accept(".");
  return CommandParser(tokens, module, before).run();
}

}  // namespace distal::core
