#include "lang/parse_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lang/parse_int.h"

namespace distal::core {

namespace {

// A statement of a tensor that is called `gpu` may follow on the next line.
bool at_processor_kind(const TokenStream& tokens) {
  return (tokens.peek().is_word("cpu") || tokens.peek().is_word("gpu")) && !tokens.at_assignment();
}

Processor parse_kind(TokenStream& tokens, Processor otherwise) {
  if (!at_processor_kind(tokens)) return otherwise;
  return tokens.next().text == "gpu" ? Processor::GPU : Processor::CPU;
}

// A number, a parenthesis, or a name that goes on like an expression. The name of a machine stands alone.
bool at_processor_count(const TokenStream& tokens) {
  const Token& first = tokens.peek();
  if (first.kind == Token::Kind::Number || first.is("(")) return true;
  constexpr std::array operators{"+", "-", "*", "/"};
  const Token& second = tokens.peek(1);
  if (!first.is_identifier() || second.starts_line) return false;
  bool is_function = first.is_word("min") || first.is_word("max") || first.is_word("ceildiv");
  return second.is_word("processors") || (is_function && second.is("(")) ||
         std::any_of(operators.begin(), operators.end(), [&](const char* symbol) { return second.is(symbol); });
}

std::vector<Grid> parse_levels(TokenStream& tokens) {
  std::vector<Grid> levels{parse_grid(tokens)};
  while (tokens.peek().is_word("of") && !tokens.at_assignment()) {
    tokens.next();
    levels.push_back(parse_grid(tokens));
  }
  return levels;
}

Machine parse_processors(TokenStream& tokens) {
  if (tokens.peek().is("(") && tokens.past_group(0) > 0 && tokens.peek(2).is(",")) {
    tokens.refuse("a grid", "the extents of a grid stand behind `Grid`, as in `Grid(2, 2)`");
  }
  IntExpr count = parse_placed_int_expr(tokens);
  if (!tokens.peek().is_word("processors")) {
    tokens.refuse("`processors` after their number",
                  "a machine is for instance `Grid(2, 2)`, `64 processors` or `64 processors gpu`");
  }
  tokens.next();
  if (!tokens.peek().is_word("as") || tokens.at_assignment()) {
    return free_machine(std::move(count), parse_kind(tokens, Processor::CPU));
  }
  tokens.next();
  Machine machine;
  machine.processors = std::move(count);
  const Token open = tokens.peek();
  if (tokens.accept("(")) {
    machine.levels = parse_levels(tokens);
    tokens.expect_close(open);
    machine.levels.back().processor = parse_kind(tokens, machine.levels.back().processor);
  } else {
    machine.levels.push_back(parse_grid(tokens));
  }
  return machine;
}

}  // namespace

bool at_grid(const TokenStream& tokens) { return tokens.peek().is_word("Grid") && tokens.peek(1).is("("); }

Grid parse_grid(TokenStream& tokens) {
  if (!at_grid(tokens)) {
    bool is_kind = tokens.peek().is_word("gpu") || tokens.peek().is_word("cpu");
    bool is_name = tokens.peek().is_word("Grid") || tokens.peek().is_word("grid");
    tokens.refuse("a grid", is_kind
                                ? fmt::format("the kind stands behind its grid, as in `Grid(2) {}`", tokens.peek().text)
                            : is_name ? "a grid is written `Grid(2, 2)`, with a capital letter and parentheses"
                                      : "write for instance `Grid(2, 2)`");
  }
  const Token first = tokens.next();
  Grid grid;
  tokens.list("(", "`(` after `Grid`", [&] {
    grid.extents.push_back(parse_placed_int_expr(tokens));
    const Token& next = tokens.peek();
    if (next.is_identifier() && tokens.previous().touches(next) && next.text[0] == 'x') {
      throw Error("the extents of a grid are written with commas, not with `x`", next.span,
                  "write for instance `Grid(2, 2)`");
    }
  });
  grid.span = tokens.span_from(first);
  grid.processor = parse_kind(tokens, Processor::CPU);
  return grid;
}

bool at_machine(const TokenStream& tokens) { return at_grid(tokens) || at_processor_count(tokens); }

Machine parse_machine(TokenStream& tokens) {
  const Token first = tokens.peek();
  Machine machine = at_processor_count(tokens) ? parse_processors(tokens) : Machine{"", parse_levels(tokens), {}};
  machine.span = tokens.span_from(first);
  return machine;
}

}  // namespace distal::core
