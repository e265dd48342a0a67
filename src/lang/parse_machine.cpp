#include "lang/parse_machine.h"

#include "lang/parse_int.h"

namespace distal::core {

namespace {

// A statement of a tensor that is called `gpu` may follow on the next line.
bool at_processor_kind(const TokenStream& tokens) {
  return (tokens.peek().is_word("cpu") || tokens.peek().is_word("gpu")) && !tokens.at_assignment();
}

}  // namespace

bool at_grid(const TokenStream& tokens) { return tokens.peek().is_word("Grid") && tokens.peek(1).is("("); }

Grid parse_grid(TokenStream& tokens) {
  if (!at_grid(tokens)) tokens.refuse("a grid", "write for instance `Grid(2, 2)`");
  const Token first = tokens.next();
  Grid grid;
  tokens.list("(", "`(` after `Grid`", [&] { grid.extents.push_back(parse_placed_int_expr(tokens)); });
  grid.span = tokens.span_from(first);
  if (at_processor_kind(tokens)) {
    grid.processor = tokens.next().text == "gpu" ? Processor::GPU : Processor::CPU;
  }
  return grid;
}

Machine parse_machine(TokenStream& tokens) {
  const Token first = tokens.peek();
  Machine machine;
  machine.levels.push_back(parse_grid(tokens));
  while (tokens.peek().is_word("of") && !tokens.at_assignment()) {
    tokens.next();
    machine.levels.push_back(parse_grid(tokens));
  }
  machine.span = tokens.span_from(first);
  return machine;
}

}  // namespace distal::core
