#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lang/element_type.h"
#include "lang/foreign.h"
#include "lang/foreign_parts.h"

namespace distal::core {

namespace {

using namespace std::string_view_literals;

// `ik,kj->ij`: names and commas before an arrow.
void refuse_einsum(const TokenStream& tokens) {
  size_t at = 0;
  while (tokens.peek(at).is_identifier() && tokens.peek(at + 1).is(",")) at += 2;
  if (!tokens.peek(at).is_identifier() || !tokens.peek(at + 1).is("->") || tokens.peek(at + 1).starts_line) return;
  throw Error("this is a subscript string of einsum", span_of(tokens.peek(), tokens.peek(at + 1)),
              "a statement names its tensors: `ik,kj->ij` is `A(i, j) = B(i, k) * C(k, j)`");
}

// `matrix A(4, 4)`, `parameter n = 4`, `grid M = Grid(2)`.
void refuse_foreign_declaration(const Token& first, const Token& name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kInstead{{
      {"matrix", "tensor"},
      {"vector", "tensor"},
      {"scalar", "tensor"},
      {"array", "tensor"},
      {"parameter", "param"},
      {"parameters", "param"},
      {"params", "param"},
      {"constant", "param"},
      {"define", "param"},
      {"grid", "machine"},
      {"cluster", "machine"},
  }};
  if (!name.is_identifier() || name.starts_line) return;
  for (const auto& [foreign, ours] : kInstead) {
    if (first.text != foreign) continue;
    throw Error(fmt::format("no line begins with `{}`", foreign), first.span,
                fmt::format("write `{} {}...`", ours, name.text));
  }
}

}  // namespace

void refuse_foreign_line(const TokenStream& tokens) {
  const Token &first = tokens.peek(), &next = tokens.peek(1);
  if ((first.is("/") && (next.is("/") || next.is("*"))) || (first.is("-") && next.is("-"))) {
    throw Error("a comment begins with `#`", span_of(first, next), "write `# ...`");
  }
  if (first.is_word("schedule") && next.is(":")) {
    throw Error("`schedule` takes no colon", next.span, "write `schedule` on a line of its own");
  }
  refuse_einsum(tokens);
  if (is_one_of(first.text, std::array{"for"sv, "while"sv, "do"sv, "forall"sv, "if"sv}) && !next.is("=")) {
    const char* what = first.is_word("if") ? "conditions" : "loops";
    throw Error(fmt::format("there are no {} `{}`", what, first.text), first.span,
                "a statement computes all elements: its loops follow from its indices, as in `v(i) = 1`");
  }
  bool begins_number = is_one_of(first.text, std::array{"const"sv, "int"sv, "let"sv, "var"sv, "auto"sv});
  if (begins_number && next.is_identifier() && !next.starts_line) {
    throw Error(fmt::format("no line begins with `{}`", first.text), first.span,
                tokens.peek(2).is("(") ? fmt::format("leave out `{}`", first.text)
                                       : fmt::format("a number is declared by `param {} = ...`", next.text));
  }
  bool goes_on = next.is("(") || (next.is_identifier() && !next.starts_line);
  if (is_one_of(first.text, std::array{"print"sv, "printf"sv, "save"sv, "write"sv, "return"sv}) && goes_on) {
    throw Error(fmt::format("a program has no output command `{}`", first.text), first.span,
                "`distal run` writes a tensor to a file of NumPy with --save A=a.npy");
  }
  if (is_one_of(first.text, std::array{"include"sv, "import"sv}) && next.is_identifier() && !next.starts_line) {
    throw Error(fmt::format("there is no `{}`", first.text), first.span, "a program is one file");
  }
  refuse_foreign_declaration(first, next);
  bool type = first.is_identifier() && parse_element_type(std::string(first.text)).has_value();
  if (type && next.is_identifier() && !next.starts_line) {
    throw Error("a declaration begins with its kind, not with a type", first.span,
                fmt::format("write `tensor {}...`, and `type {}` on a line of its own: it holds for all tensors",
                            next.text, first.text));
  }
}

std::string foreign_command(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kInstead{{
      {"fuse", "two loops are fused by `collapse(i, j, f)`"},
      {"tile", "cut each loop, `split(i, io, ii, 32)` and `split(j, jo, ji, 32)`, then `reorder({io, jo, ii, ji})`"},
      {"parallel", "processors share a loop by `distribute`, the threads of one processor by `parallelize(i)`"},
      {"bound", "the extents of loops follow from the tensors, and `divide` and `split` cut them"},
      {"pos", "tensors are dense, so loops are coordinates"},
      {"compute_at", "a part of the right side is computed first by `precompute`"},
      {"store_at", "a part of the right side is computed first by `precompute`"},
      {"cache_read", "a part of a tensor is fetched at a loop by `communicate(B, ko)`"},
      {"map", "loops are mapped to processors by `distribute`"},
  }};
  for (const auto& [foreign, help] : kInstead) {
    if (name == foreign) return std::string(help);
  }
  return {};
}

}  // namespace distal::core
