#include "lang/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

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
    if (module_.statements.empty()) {
      throw Error("the program has no statement", tokens_.peek().span,
                  "a program computes something, for instance `A(i, j) = B(i, k) * C(k, j)`");
    }
    return std::move(module_);
  }

 private:
  // One item a line: `B(i) C(i)` without its * must not be read as two things.
  void check_line_start() const {
    if (!tokens_.peek().starts_line) tokens_.refuse("an operator or the end of the line");
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
      const Token& name = tokens_.expect_identifier("the name of a param");
      std::string text(name.text);
      for (const Param& p : module_.params) {
        if (p.name == text) refuse_duplicate("param", name, p.span);
      }
      tokens_.expect("=", fmt::format("`=` and a value after the param `{}`", text));
      IntExpr value = parse_int_expr(tokens_, module_).value;
      module_.params.push_back({text, value, name.span});
    } while (tokens_.accept(","));
  }

  void machine() {
    tokens_.next();
    const Token& name = tokens_.next();
    check_name_free("machine", name);
    tokens_.expect("=", fmt::format("`=` and a grid after the machine `{}`", name.text));
    Machine machine = parse_machine(tokens_, module_);
    machine.name = std::string(name.text);
    machine.span = name.span;
    module_.machines.push_back(std::move(machine));
  }

  void tensor() {
    tokens_.next();
    check_name_free("tensor", tokens_.peek());
    module_.tensors.push_back(parse_tensor(tokens_, module_));
  }

  // Machines and tensors share their names, since a schedule distributes onto either.
  void check_name_free(const char* kind, const Token& name) const {
    std::string text(name.text);
    if (const Machine* other = module_.find_machine(text)) refuse_duplicate(kind, name, other->span, "machine");
    if (const Tensor* other = module_.find_tensor(text)) refuse_duplicate(kind, name, other->span, "tensor");
  }

  [[noreturn]] static void refuse_duplicate(const std::string& kind, const Token& name, const SourceSpan& other,
                                            const std::string& other_kind = {}) {
    bool same = other_kind.empty() || other_kind == kind;
    std::string what = same ? fmt::format("{} `{}` is declared twice", kind, name.text)
                            : fmt::format("`{}` cannot be a {}: it is a {} already", name.text, kind, other_kind);
    throw Error(what, name.span, fmt::format("it is declared in line {}; choose another name", other.line));
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
    module_.statements.push_back({parse_statement(tokens_, module_), {}, std::nullopt, true});
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
    module_.statements.back().schedule = parse_schedule(tokens_, module_);
  }

  [[noreturn]] void refuse_item() {
    const Token first = tokens_.peek();
    refuse_foreign_line(tokens_);
    std::string name(first.text);
    bool called = first.is_identifier() && tokens_.peek(1).is("(");
    bool command = std::find(command_names().begin(), command_names().end(), name) != command_names().end();
    if (called && command && module_.find_tensor(name) == nullptr) {
      throw Error(fmt::format("the command `{}` stands outside a schedule", name), first.span,
                  "write `schedule` on a line of its own before the commands");
    }
    if (command && module_.find_tensor(name) == nullptr && tokens_.peek(1).is_identifier()) {
      throw Error(fmt::format("the arguments of the command `{}` stand in parentheses", name), first.span,
                  fmt::format("write `{}(...)`", name));
    }
    // The parser of statements knows best what is wrong with one.
    if (first.is_identifier() && !tokens_.peek(1).is_identifier()) parse_statement(tokens_, module_);
    std::vector<std::string> words = {"param", "machine", "tensor", "type", "schedule", "on", "order", "in", "cyclic"};
    words.insert(words.end(), command_names().begin(), command_names().end());
    std::string guess = first.is_identifier() ? did_you_mean(name, words) : "";
    throw Error(fmt::format("expected a declaration, a statement or a schedule, found {}", shown(first)), first.span,
                "a line begins with `param`, `machine`, `tensor`, `type` or `schedule`, or is a statement such as "
                "`A(i) = B(i)`" +
                    guess);
  }

  TokenStream tokens_;
  Module module_;
  bool type_given_ = false;
  bool has_schedule_ = false;
};

// Line ends of other systems would stand in the lines that errors show.
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
  return parse_format(tokens, module, tensor);
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
