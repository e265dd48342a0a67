#include "lang/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "lang/element_type.h"

namespace distal::core {

namespace {

using namespace std::string_view_literals;

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The span from one token to another one on the same line.
SourceSpan span_of(const Token& first, const Token& last) {
  SourceSpan span = first.span;
  if (last.span.line == span.line) span.length = last.span.column + last.span.length - span.column;
  return span;
}

// Whether the group whose opening bracket is `ahead` tokens from here contains another bracket.
bool is_nested(const TokenStream& tokens, size_t ahead) {
  size_t end = tokens.past_group(ahead);
  for (size_t i = ahead + 1; i + 1 < end; ++i) {
    if (tokens.peek(i).is("(") || tokens.peek(i).is("[")) return true;
  }
  return false;
}

// The tokens of a group without its brackets, as they would be written.
std::string contents_of_group(const TokenStream& tokens, size_t ahead) {
  std::string out;
  size_t end = tokens.past_group(ahead);
  for (size_t i = ahead + 1; i + 1 < end; ++i) {
    out += tokens.peek(i).text;
    if (tokens.peek(i).is(",")) out += " ";
  }
  return out;
}

std::string instead_of_function(std::string_view name) {
  if (is_one_of(name, std::array{"sum"sv, "einsum"sv, "dot"sv, "matmul"sv, "Sum"sv})) {
    return "an index that stands on the right side only is summed: write `A(i, j) = B(i, k) * C(k, j)`";
  }
  if (is_one_of(name, std::array{"transpose"sv, "T"sv, "trans"sv})) {
    return "a transpose is an access with its indices swapped, as in `A(i, j) = B(j, i)`";
  }
  return fmt::format(
      "a statement adds, subtracts and multiplies tensors and numbers; apply `{}` to a tensor before or after the run, "
      "in C++ or NumPy",
      name);
}

// `A[i, j]`, and `A[i][j]` as in C.
[[noreturn]] void refuse_brackets(const TokenStream& tokens, const Token& name) {
  std::string inside = contents_of_group(tokens, 0);
  size_t end = tokens.past_group(0);
  while (end > 0 && tokens.peek(end).is("[") && tokens.past_group(end) > 0) {
    inside += ", " + contents_of_group(tokens, end);
    end = tokens.past_group(end);
  }
  throw Error(
      fmt::format("the indices of `{}` stand in square brackets", name.text),
      end > 0 ? span_of(name, tokens.peek(end - 1)) : tokens.peek().span,
      inside.empty() ? fmt::format("write `{}(...)`", name.text) : fmt::format("write `{}({})`", name.text, inside));
}

[[noreturn]] void refuse_member(const TokenStream& tokens, const Token& name) {
  if (tokens.peek(1).is_word("schedule")) {
    throw Error("in a file, a schedule stands below its statement", span_of(tokens.peek(), tokens.peek(1)),
                "write `schedule` on a line of its own, and each command on a line below it");
  }
  throw Error("a tensor has no members", span_of(tokens.peek(), tokens.peek(1)),
              tokens.peek(1).is_word("T")
                  ? "a transpose is an access with its indices swapped, as in `A(i, j) = B(j, i)`"
                  : fmt::format("a statement names the elements of `{}` by indices only, as in `B(i, j)`", name.text));
}

double value_of(const Token& number) {
  double value = 0;
  std::from_chars(number.text.data(), number.text.data() + number.text.size(), value);
  return value;
}

[[noreturn]] void refuse_division(const TokenStream& tokens) {
  const Token &slash = tokens.peek(), &over = tokens.previous(), &under = tokens.peek(1);
  bool by_number = under.kind == Token::Kind::Number && value_of(under) != 0;
  std::string help = "multiply by a tensor that holds the reciprocals; fill it before the run";
  if (by_number && over.kind == Token::Kind::Number) {
    help = fmt::format("write the quotient as a number, {}", value_of(over) / value_of(under));
  } else if (by_number) {
    help = fmt::format("multiply by the reciprocal instead: write `* {}`", 1 / value_of(under));
  }
  throw Error("index notation has no division", slash.span, help);
}

// `2i`, `1.5f`: letters that touch a number.
void refuse_suffix(const TokenStream& tokens) {
  const Token &number = tokens.previous(), &letters = tokens.peek();
  bool touches = number.kind == Token::Kind::Number && letters.is_identifier() && number.touches(letters);
  if (!touches || tokens.peek(1).is("(")) return;
  std::string written = fmt::format("`{}{}` is not a number", number.text, letters.text);
  SourceSpan span = span_of(number, letters);
  if (is_one_of(letters.text, std::array{"i"sv, "j"sv, "I"sv, "J"sv})) {
    throw Error(written, span,
                "there are no imaginary numbers in a statement; declare a scalar, `tensor c`, in a program of a "
                "complex type, multiply by `c`, and load or set its value");
  }
  bool is_exponent = letters.text.size() > 1 && (letters.text[0] == 'd' || letters.text[0] == 'D') &&
                     letters.text.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (is_exponent) {
    throw Error(written, span,
                fmt::format("an exponent begins with `e`: write {}e{}", number.text, letters.text.substr(1)));
  }
  if (is_one_of(letters.text, std::array{"f"sv, "F"sv, "d"sv, "D"sv, "l"sv, "L"sv, "u"sv, "U"sv})) {
    throw Error(
        written, span,
        fmt::format("write {}; the line `type float` or `type double` chooses the type of all elements", number.text));
  }
}

[[noreturn]] void refuse_condition(const Token& word) {
  throw Error(fmt::format("a statement has no condition `{}`", word.text), word.span,
              "it computes all elements; multiply by a tensor that is 1 where the term counts and 0 elsewhere");
}

// How a factor begins or ends: `2`, `B(...)`, `(...)`.
std::string shown_factor(const Token& first, bool has_group) {
  if (first.is("(")) return "(...)";
  return fmt::format("{}{}", first.text, has_group && first.is_identifier() ? "(...)" : "");
}

[[noreturn]] void refuse_missing_operator(const TokenStream& tokens, const Token& first) {
  const Token& next = tokens.peek();
  std::string left = shown_factor(first, tokens.previous().is(")"));
  std::string right = shown_factor(next, tokens.peek(1).is("("));
  std::string help = fmt::format("a product is written with its sign: `{} * {}`", left, right);
  if (tokens.at_assignment())
    help = fmt::format("each statement stands on a line of its own: begin one at `{}`", right);
  throw Error(fmt::format("an operator is missing between `{}` and `{}`", left, right), next.span, help);
}

[[noreturn]] void refuse_comparison(const Token& symbol) {
  throw Error("index notation has no comparisons", symbol.span,
              "multiply by a tensor that is 1 where the condition holds and 0 elsewhere");
}

// `ik,kj->ij`: names and commas before an arrow.
void refuse_einsum(const TokenStream& tokens) {
  size_t at = 0;
  while (tokens.peek(at).is_identifier() && tokens.peek(at + 1).is(",")) at += 2;
  if (!tokens.peek(at).is_identifier() || !tokens.peek(at + 1).is("->") || tokens.peek(at + 1).starts_line) return;
  throw Error("this is a subscript string of einsum", span_of(tokens.peek(), tokens.peek(at + 1)),
              "a statement names its tensors: `ik,kj->ij` is `A(i, j) = B(i, k) * C(k, j)`");
}

bool is_param(const Module& module, const Token& name) {
  return std::any_of(module.params.begin(), module.params.end(), [&](const Param& p) { return p.name == name.text; });
}

}  // namespace

void refuse_foreign_access(const TokenStream& tokens, const Token& name, const Module& module) {
  const Token& next = tokens.peek();
  if (next.starts_line) return;
  if (next.is("[")) refuse_brackets(tokens, name);
  if (next.is(".") && tokens.peek(1).is_identifier()) refuse_member(tokens, name);
  if (!next.is("(") || module.find_tensor(std::string(name.text)) != nullptr || !is_nested(tokens, 0)) return;
  throw Error(fmt::format("index notation has no function `{}`", name.text), name.span, instead_of_function(name.text));
}

void refuse_foreign_index(const TokenStream& tokens, const Module& module) {
  const Token &first = tokens.peek(), &next = tokens.peek(1), &second = tokens.peek(2);
  if (first.is(":")) {
    throw Error("there are no slices `:`", first.span, "give each dimension an index, as in `B(i, k)`");
  }
  if (first.kind == Token::Kind::Number && (next.is(",") || next.is(")"))) {
    throw Error(fmt::format("`{}` is a number, and an access has an index for each dimension", first.text), first.span,
                "to pick one row, multiply by a vector that is 1 there and 0 elsewhere, as in `B(i, j) * e(i)`");
  }
  bool scaled = next.is("*") || next.is("/") || (first.kind == Token::Kind::Number && next.is_identifier());
  if (scaled) {
    throw Error("an index cannot be multiplied or divided", span_of(first, next),
                "an index is a name, as in `B(i, k)`, or a shifted name, as in `B(i, k + 1)`");
  }
  if (!first.is_identifier()) return;
  if (next.is("(") || next.is("[")) {
    size_t end = tokens.past_group(1);
    throw Error("the elements of a tensor cannot be indices",
                end > 0 ? span_of(first, tokens.peek(end - 1)) : next.span,
                "multiply by a matrix that is 1 at the selected elements and 0 elsewhere, as in `S(i, k) * X(k, j)`");
  }
  if ((next.is("+") || next.is("-")) && second.is_identifier() && !is_param(module, second) &&
      !tokens.peek(3).is("(")) {
    if (is_param(module, first)) {
      throw Error(fmt::format("`{}` is a param, and an index begins with its variable", first.text),
                  span_of(first, second),
                  next.is("+") ? fmt::format("write `{} + {}`", second.text, first.text)
                               : fmt::format("indices run forwards only; a shift is written `{0} + {1}` or `{0} - {1}`",
                                             second.text, first.text));
    }
    throw Error(fmt::format("an index cannot be the {} of two indices", next.is("+") ? "sum" : "difference"),
                span_of(first, second),
                fmt::format("convolutions are not in the language; `{}` could only be a param", second.text));
  }
}

void refuse_foreign_assign_operator(const TokenStream& tokens, const std::string& left) {
  const Token &sign = tokens.peek(), &equals = tokens.peek(1);
  if (!equals.is("=") || !sign.touches(equals)) return;
  if (sign.is("*")) {
    throw Error("there is no `*=`", span_of(sign, equals),
                fmt::format("the output may stand on the right: write `{0} = {0} * ...`", left));
  }
  if (sign.is(":")) throw Error("a statement assigns with `=`", span_of(sign, equals), "leave out the colon");
}

void refuse_foreign_assignment(const TokenStream& tokens) {
  const Token& next = tokens.peek();
  if (!next.is("=") || !tokens.previous().touches(next)) return;
  throw Error("a statement assigns, and does not compare", next.span, "write a single `=`");
}

void refuse_foreign_factor(const TokenStream& tokens) {
  const Token &before = tokens.previous(), &next = tokens.peek();
  if (!next.is("*") || !before.is("*") || !before.touches(next)) return;
  throw Error("index notation has no power `**`", span_of(before, next),
              "write the factor several times, as in `B(i, j) * B(i, j)`");
}

void refuse_foreign_operator(const TokenStream& tokens, const Token& first) {
  const Token& next = tokens.peek();
  if (next.starts_line || next.kind == Token::Kind::End) return;
  if (next.is("/")) refuse_division(tokens);
  if (next.is("<") || next.is(">")) refuse_comparison(next);
  if (next.is("[")) refuse_brackets(tokens, first);
  if (next.is(".") && tokens.peek(1).is_identifier()) refuse_member(tokens, first);
  if (is_one_of(next.text, std::array{"if"sv, "where"sv, "for"sv, "when"sv})) refuse_condition(next);
  refuse_suffix(tokens);
  if (next.is_identifier() || next.kind == Token::Kind::Number || next.is("(")) refuse_missing_operator(tokens, first);
}

void refuse_foreign_line(const TokenStream& tokens) {
  const Token &first = tokens.peek(), &next = tokens.peek(1);
  if ((first.is("/") && (next.is("/") || next.is("*"))) || (first.is("-") && next.is("-"))) {
    throw Error("a comment begins with `#`", span_of(first, next), "write `# ...`");
  }
  if (first.is_word("schedule") && next.is(":")) {
    throw Error("`schedule` takes no colon", next.span, "write `schedule` on a line of its own");
  }
  refuse_einsum(tokens);
  if (is_one_of(first.text, std::array{"for"sv, "while"sv, "do"sv, "forall"sv}) && !next.is("=")) {
    throw Error(fmt::format("there are no loops `{}`", first.text), first.span,
                "a statement computes all elements: its loops follow from its indices, as in `v(i) = 1`");
  }
  bool begins_number = is_one_of(first.text, std::array{"const"sv, "int"sv, "let"sv, "var"sv, "auto"sv});
  if (begins_number && next.is_identifier() && !next.starts_line) {
    throw Error(fmt::format("no line begins with `{}`", first.text), first.span,
                tokens.peek(2).is("(") ? fmt::format("leave out `{}`", first.text)
                                       : fmt::format("a number is declared by `param {} = ...`", next.text));
  }
  if (is_one_of(first.text, std::array{"print"sv, "printf"sv, "save"sv, "write"sv}) && next.is("(")) {
    throw Error(fmt::format("a program has no output command `{}`", first.text), first.span,
                "`distal run` writes a tensor to a file of NumPy with --save A=a.npy");
  }
  if (is_one_of(first.text, std::array{"include"sv, "import"sv}) && next.is_identifier() && !next.starts_line) {
    throw Error(fmt::format("there is no `{}`", first.text), first.span, "a program is one file");
  }
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

std::string instead_of_character(std::string_view character) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kInstead{{
      {";", "the end of a line ends a statement or a command; leave out the `;`"},
      {"'", "there are no quotes here; a transpose is an access with its indices swapped, as in `B(j, i)`"},
      {"\"", "names are written without quotes"},
      {"“", "names are written without quotes"},
      {"‘", "names are written without quotes"},
      {"’", "there are no quotes here; a transpose is an access with its indices swapped, as in `B(j, i)`"},
      {"^", "there is no power: write the factor several times; a transpose has its indices swapped, as in `B(j, i)`"},
      {"@", "a matrix product is written with indices, as in `A(i, j) = B(i, k) * C(k, j)`"},
      {"!", "a comment begins with `#`"},
      {"%", "a comment begins with `#`"},
      {"×", "write `*`"},
      {"·", "write `*`"},
      {"∗", "write `*`"},
      {"⋅", "write `*`"},
      {"−", "write the minus of the keyboard, `-`"},
      {"–", "write the minus of the keyboard, `-`"},
      {"→", "write `->`"},
      {"↦", "write `->`"},
      {"\u00a0", "this is a space of another kind, perhaps copied from a page; write an ordinary one"},
      {"∀", "loops are not written; they follow from the indices of the statement"},
  }};
  for (const auto& [wrong, help] : kInstead) {
    if (character == wrong) return std::string(help);
  }
  return "names are made of letters, digits and _; `#` starts a comment";
}

}  // namespace distal::core
