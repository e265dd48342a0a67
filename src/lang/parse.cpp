#include "lang/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <type_traits>

#include "lang/check.h"
#include "lang/check_parts.h"
#include "lang/foreign.h"
#include "lang/parse_int.h"
#include "lang/parse_machine.h"
#include "lang/parse_schedule.h"
#include "lang/parse_statement.h"
#include "lang/parse_tensor.h"
#include "lang/suggest.h"
#include "lang/token_stream.h"

namespace distal::core {

namespace {

class ModuleParser {
 public:
  explicit ModuleParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Module run() {
    while (!tokens_.at_end()) {
      check_line_start();
      item();
    }
    check_not_empty(module_, tokens_.peek().span);
    return std::move(module_);
  }

 private:
  // One item per line: `B(i) C(i)` without its * must not be read as two things.
  void check_line_start() const {
    const Token& next = tokens_.peek();
    if (next.starts_line) return;
    if (next.is_identifier() && tokens_.previous().kind == Token::Kind::Number && tokens_.previous().touches(next)) {
      throw Error(fmt::format("`{}{}` is not a number", tokens_.previous().text, next.text), next.span,
                  "write all digits, as in 10000");
    }
    tokens_.refuse("an operator or the end of the line", next.is(",") ? "each item stands on a line of its own" : "");
  }

  // No word is reserved. Two names in a row begin a declaration, because no statement begins like that.
  void item() {
    const Token& first = tokens_.peek();
    if (tokens_.at_assignment()) return statement();
    if (first.is_word("schedule") && !tokens_.peek(1).is("(")) return schedule();
    if (first.is_identifier() && tokens_.peek(1).is_identifier()) {
      if (first.text == "param") return params();
      if (first.text == "machine") return machine();
      if (first.text == "tensor") return tensor();
      if (first.text == "type") return type();
    }
    refuse_item();
  }

  void params() {
    tokens_.next();
    do {
      refuse_thousands();
      const Token& name = tokens_.expect_identifier("the name of a param");
      std::string text(name.text);
      if (tokens_.at_end() || tokens_.peek().starts_line || !tokens_.peek().is("=")) {
        tokens_.refuse_here(fmt::format("`=` and a value after the param `{}`", text),
                            fmt::format("a param has a default, which --set changes: write `param {} = 1024`", text));
      }
      tokens_.next();
      add(&Module::params, {text, parse_int_expr(tokens_), name.span}, check_param);
    } while (tokens_.accept(","));
  }

  // `1,000`: the end of a number is no name.
  void refuse_thousands() const {
    const Token &comma = tokens_.previous(), &rest = tokens_.peek();
    if (!comma.is(",") || rest.kind != Token::Kind::Number || !comma.touches(rest)) return;
    throw Error(fmt::format("`,{}` goes on with a number, and a param is declared by its name", rest.text), rest.span,
                "write all digits of a number without commas");
  }

  void machine() {
    tokens_.next();
    const Token& name = tokens_.next();
    if (!tokens_.peek().is("=")) {
      tokens_.refuse_here(fmt::format("`=` and a grid after the machine `{}`", name.text),
                          fmt::format("write for instance `machine {} = Grid(2, 2)`", name.text));
    }
    tokens_.next();
    Machine machine = parse_machine(tokens_);
    if (!tokens_.at_end() && !tokens_.peek().starts_line) {
      tokens_.refuse("`of`, `cpu`, `gpu` or the end of the line",
                     "a machine is for instance `Grid(2, 2)`, `Grid(2) of Grid(4)` or `Grid(8) gpu`");
    }
    machine.name = std::string(name.text);
    machine.span = name.span;
    add(&Module::machines, std::move(machine), check_machine);
  }

  void tensor() {
    tokens_.next();
    add(&Module::tensors, parse_tensor(tokens_, module_), check_tensor);
  }

  // Each item is checked when it is read, so that the first mistake of the text is reported.
  template <class Item>
  void add(std::vector<Item> Module::*items, std::type_identity_t<Item> item,
           void (*check_item)(const Item&, const Module&)) {
    check_item(item, module_);
    (module_.*items).push_back(std::move(item));
  }

  void type() {
    const Token first = tokens_.next();
    const Token& word = tokens_.next();
    std::string name(word.text);
    if (tokens_.peek().is("<")) {
      for (int i = 0; i < 3; ++i) name += tokens_.next().text;
    }
    std::optional<ElementType> type = parse_element_type(name);
    if (!type) {
      SourceSpan span = tokens_.span_from(word);
      throw Error(fmt::format("unknown element type `{}`", name), span, "the types are " + element_type_names());
    }
    if (type_given_) throw Error("the element type is given twice", tokens_.span_from(first), "one type holds for all");
    type_given_ = true;
    module_.type = *type;
  }

  void statement() {
    Statement statement = parse_statement(tokens_, module_);
    check_statement(statement, module_);
    module_.statements.push_back({std::move(statement), {}, std::nullopt, true});
    has_schedule_ = false;
  }

  void schedule() {
    refuse_foreign_line(tokens_);
    const Token& word = tokens_.next();
    if (module_.statements.empty()) {
      throw Error("a schedule before any statement", word.span, "a schedule follows the statement that it is for");
    }
    if (has_schedule_) {
      throw Error(fmt::format("`{}` has a schedule already", to_string(module_.statements.back().statement)), word.span,
                  "put all commands of a statement under one `schedule`");
    }
    has_schedule_ = true;
    while (at_command(tokens_, module_)) {
      std::vector<Command>& schedule = module_.statements.back().schedule;
      Command command = parse_command(tokens_, module_, schedule);
      check_command(command, module_);
      schedule.push_back(std::move(command));
    }
    module_.statements.back().has_empty_schedule = module_.statements.back().schedule.empty();
  }

  [[noreturn]] void refuse_item() {
    const Token first = tokens_.peek();
    refuse_foreign_line(tokens_);
    std::string name(first.text);
    refuse_nameless();
    bool called = first.is_identifier() && tokens_.peek(1).is("(");
    bool command = std::find(command_names().begin(), command_names().end(), name) != command_names().end();
    if (called && command && module_.find_tensor(name) == nullptr) {
      throw Error(fmt::format("the command `{}` stands outside a schedule", name), first.span,
                  "write `schedule` on a line of its own before the commands");
    }
    bool has_arguments = tokens_.peek(1).is_identifier() || tokens_.peek(1).is("{");
    if (command && module_.find_tensor(name) == nullptr && has_arguments) {
      throw Error(fmt::format("the arguments of the command `{}` stand in parentheses", name), first.span,
                  fmt::format("write `{}(...)`", name));
    }
    if (first.is_identifier() && !tokens_.peek(1).is_identifier()) refuse_statement();
    std::vector<std::string> words = {"param", "machine", "tensor", "type", "schedule", "on", "order", "in", "cyclic"};
    words.insert(words.end(), command_names().begin(), command_names().end());
    std::string guess = first.is_identifier() ? did_you_mean(name, words) : "";
    throw Error(fmt::format("expected a declaration, a statement or a schedule, found {}", shown(first)), first.span,
                "a line begins with `param`, `machine`, `tensor`, `type` or `schedule`, or is a statement such as "
                "`A(i) = B(i)`" +
                    guess);
  }

  // Refuses a declaration that gives no name, such as `param 2n = 4`.
  void refuse_nameless() const {
    constexpr std::array<std::pair<const char*, const char*>, 4> kinds{{{"param", "param n = 1024"},
                                                                        {"machine", "machine M = Grid(2, 2)"},
                                                                        {"tensor", "tensor A(4, 4)"},
                                                                        {"type", "type float"}}};
    const Token &first = tokens_.peek(), &next = tokens_.peek(1);
    for (const auto& [kind, example] : kinds) {
      if (!first.is_word(kind) || module_.find_tensor(kind) != nullptr) continue;
      bool is_number = next.kind == Token::Kind::Number && !next.starts_line;
      throw Error(
          fmt::format("`{}` needs a name", kind), first.span,
          fmt::format("write for instance `{}`{}", example, is_number ? "; a name does not begin with a digit" : ""));
    }
  }

  // Refuses a line that begins like a statement: for its access, or else for what the parser finds.
  void refuse_statement() {
    TokenStream ahead = tokens_;
    check_access(parse_access(ahead, module_), module_);
    parse_statement(tokens_, module_);
  }

  TokenStream tokens_;
  Module module_;
  bool type_given_ = false;
  bool has_schedule_ = false;
};

// Errors show lines of the text, and the CR of a CR LF would be part of them.
std::string with_unix_line_ends(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    bool pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (!pair) out += text[i];
  }
  return out;
}

}  // namespace

Module parse_module(const std::string& text, const std::string& source_name) {
  auto source = std::make_shared<const Source>(Source{source_name, with_unix_line_ends(text)});
  return ModuleParser(lex(source)).run();
}

Tensor parse_format(const std::string& text, const std::string& source_name, const Module& module,
                    const Tensor& tensor) {
  auto source = std::make_shared<const Source>(Source{source_name, with_unix_line_ends(text)});
  TokenStream tokens(lex(source));
  Tensor parsed = parse_format(tokens, module, tensor);
  check_format(parsed, module);
  return parsed;
}

Module parse_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  file.peek();  // a folder opens like a file; only reading it fails
  if (!file.is_open() || file.bad()) {
    throw Error(fmt::format("cannot read {}: {}", path, errno != 0 ? std::strerror(errno) : "unknown reason"));
  }
  std::ostringstream text;
  text << file.rdbuf();
  if (text.view().find('\0') != std::string_view::npos) {
    throw Error(fmt::format("{} is not a text file", path), {},
                "a DISTAL program is text, as in `algorithms/summa.distal`");
  }
  return parse_module(text.str(), path);
}

}  // namespace distal::core
