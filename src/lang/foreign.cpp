#include "lang/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "lang/command.h"
#include "lang/foreign_parts.h"

namespace distal::core {

namespace {

using namespace std::string_view_literals;

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

constexpr const char* kSummed =
    "an index that stands on the right side only is summed: write `A(i, j) = B(i, k) * C(k, j)`";

// `sum`, and `sum_k` as in TeX.
bool is_sum(std::string_view name) {
  return is_one_of(name, std::array{"sum"sv, "einsum"sv, "dot"sv, "matmul"sv, "Sum"sv}) || name.starts_with("sum_");
}

bool is_function(std::string_view name) {
  constexpr std::array known{"abs"sv,  "ceil"sv, "ceildiv"sv, "conj"sv, "cos"sv,  "exp"sv,  "floor"sv,
                             "imag"sv, "log"sv,  "max"sv,     "mean"sv, "min"sv,  "norm"sv, "pow"sv,
                             "real"sv, "relu"sv, "sign"sv,    "sin"sv,  "sqrt"sv, "tan"sv,  "tanh"sv};
  return is_one_of(name, known) || is_sum(name);
}

std::string instead_of_function(std::string_view name) {
  if (is_sum(name)) return kSummed;
  if (is_one_of(name, std::array{"transpose"sv, "T"sv, "trans"sv})) {
    return "a transpose is an access with its indices swapped, as in `A(i, j) = B(j, i)`";
  }
  return fmt::format(
      "a statement adds, subtracts and multiplies tensors and numbers; apply `{}` to a tensor before or after the run, "
      "in C++ or NumPy",
      name);
}

// `A[i, j]`, `A{i, j}`, and `A[i][j]` as in C.
[[noreturn]] void refuse_brackets(const TokenStream& tokens, const Token& name) {
  const char* kind = tokens.peek().is("[") ? "square brackets" : "braces";
  std::string inside = contents_of_group(tokens, 0);
  size_t end = tokens.past_group(0);
  while (end > 0 && tokens.peek(end).is("[") && tokens.past_group(end) > 0) {
    inside += ", " + contents_of_group(tokens, end);
    end = tokens.past_group(end);
  }
  throw Error(
      fmt::format("the indices of `{}` stand in {}", name.text, kind),
      end > 0 ? span_of(name, tokens.peek(end - 1)) : tokens.peek().span,
      inside.empty() ? fmt::format("write `{}(...)`", name.text) : fmt::format("write `{}({})`", name.text, inside));
}

[[noreturn]] void refuse_member(const TokenStream& tokens, const Token& name) {
  if (tokens.peek(1).is_word("schedule")) {
    throw Error("in a file, a schedule stands below its statement", span_of(tokens.peek(), tokens.peek(1)),
                "write `schedule` on a line of its own, and each command on a line below it");
  }
  if (!tokens.peek().touches(tokens.peek(1))) {
    throw Error("index notation has no operator `.`", tokens.peek().span, "a product is written with `*`");
  }
  const std::string called(tokens.peek(1).text);
  if (std::find(command_names().begin(), command_names().end(), called) != command_names().end()) {
    throw Error(fmt::format("a command stands alone, without `{}.`", name.text), span_of(tokens.peek(), tokens.peek(1)),
                fmt::format("write `{}(...)` on a line below `schedule`", called));
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
  if (letters.text[0] == '_') throw Error(written, span, "write the digits without `_`");
  if (number.text == "0") throw Error(written, span, "numbers are decimal, as in 16 or 1.5e3");
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
  if (word.is_word("for")) {
    throw Error("a statement has no loop `for`", word.span,
                "an index that stands on the right side only is summed over all its values");
  }
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
  if (is_sum(first.text))
    throw Error(fmt::format("index notation has no function `{}`", first.text), first.span, kSummed);
  std::string help = fmt::format("a product is written with its sign: `{} * {}`", left, right);
  if (tokens.at_assignment())
    help = fmt::format("each statement stands on a line of its own: begin one at `{}`", right);
  throw Error(fmt::format("an operator is missing between `{}` and `{}`", left, right), next.span, help);
}

[[noreturn]] void refuse_comparison(const SourceSpan& span) {
  throw Error("index notation has no comparisons", span,
              "multiply by a tensor that is 1 where the condition holds and 0 elsewhere");
}

// `i == j`, and `A(i) = B(i) = C(i)`.
[[noreturn]] void refuse_equals(const TokenStream& tokens) {
  const Token &equals = tokens.peek(), &next = tokens.peek(1);
  if (next.is("=") && equals.touches(next)) refuse_comparison(span_of(equals, next));
  throw Error("a statement has one `=`", equals.span, "write each assignment on a line of its own");
}

// `1,5`
void refuse_decimal_comma(const TokenStream& tokens) {
  const Token &whole = tokens.previous(), &comma = tokens.peek(), &part = tokens.peek(1);
  auto is_number = [](const Token& token) { return token.kind == Token::Kind::Number; };
  if (!is_number(whole) || !comma.is(",") || !is_number(part) || !comma.touches(part)) return;
  throw Error(fmt::format("`{},{}` is not a number", whole.text, part.text), span_of(whole, part),
              fmt::format("a decimal fraction has a point: write {}.{}", whole.text, part.text));
}

bool is_param(const Module& module, const Token& name) {
  return std::any_of(module.params.begin(), module.params.end(), [&](const Param& p) { return p.name == name.text; });
}

}  // namespace

void refuse_foreign_access(const TokenStream& tokens, const Token& name, const Module& module) {
  const Token& next = tokens.peek();
  if (next.starts_line) return;
  if (next.is("[") || next.is("{")) refuse_brackets(tokens, name);
  if (next.is(".") && tokens.peek(1).is_identifier()) refuse_member(tokens, name);
  if (!next.is("(") || module.find_tensor(std::string(name.text)) != nullptr) return;
  if (name.is_word("Grid")) {
    throw Error("a grid stands in the declaration of a machine", name.span, "write `machine M = Grid(...)`");
  }
  if (!is_nested(tokens, 0) && !is_function(name.text)) return;
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
  if (sign.is("<") && equals.is("-")) {
    throw Error("a statement assigns with `=`", span_of(sign, equals), "write `=` instead of `<-`");
  }
  if (!equals.is("=") || !sign.touches(equals)) return;
  if (sign.is("*")) {
    throw Error("there is no `*=`", span_of(sign, equals),
                fmt::format("the output may stand on the right: write `{0} = {0} * ...`", left));
  }
  if (sign.is(":")) throw Error("a statement assigns with `=`", span_of(sign, equals), "leave out the colon");
}

void refuse_foreign_assignment(const TokenStream& tokens) {
  const Token &before = tokens.previous(), &next = tokens.peek();
  if (!before.is("=") || !before.touches(next)) return;
  if (next.is("=")) throw Error("a statement assigns, and does not compare", next.span, "write a single `=`");
  if (next.is(">")) throw Error("a statement assigns with `=`", span_of(before, next), "write `=` instead of `=>`");
  if (next.is("+")) throw Error("there is no `=+`", span_of(before, next), "`+=` adds to the output");
}

void refuse_foreign_factor(const TokenStream& tokens) {
  const Token &before = tokens.previous(), &next = tokens.peek();
  if (next.is("+")) throw Error("a term has no sign `+`", next.span, "leave out the `+`");
  if (!next.is("*") || !before.is("*") || !before.touches(next)) return;
  throw Error("index notation has no power `**`", span_of(before, next),
              "write the factor several times, as in `B(i, j) * B(i, j)`");
}

void refuse_foreign_operator(const TokenStream& tokens, const Token& first) {
  const Token& next = tokens.peek();
  if (next.starts_line || next.kind == Token::Kind::End) return;
  if (next.is("/")) refuse_division(tokens);
  if (next.is("<") || next.is(">")) refuse_comparison(next.span);
  if (next.is("=")) refuse_equals(tokens);
  if (next.is("[")) refuse_brackets(tokens, first);
  refuse_decimal_comma(tokens);
  if (next.is(".") && tokens.peek(1).is_identifier()) refuse_member(tokens, first);
  if (is_one_of(next.text, std::array{"if"sv, "where"sv, "for"sv, "when"sv, "and"sv, "or"sv})) refuse_condition(next);
  refuse_suffix(tokens);
  if (next.is_identifier() || next.kind == Token::Kind::Number || next.is("(")) refuse_missing_operator(tokens, first);
}

std::string instead_of_character(std::string_view character, bool is_behind_name) {
  constexpr const char* transposed =
      "there are no quotes here; a transpose is an access with its indices swapped, as in `B(j, i)`";
  if (character == "'" || character == "’") return is_behind_name ? transposed : "names are written without quotes";
  constexpr std::string_view calculates = "a statement adds, subtracts and multiplies, with `+`, `-` and `*`";
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kInstead{{
      {";", "the end of a line ends a statement or a command; leave out the `;`"},
      {"\"", "names are written without quotes"},
      {"“", "names are written without quotes"},
      {"‘", "names are written without quotes"},
      {"^", "there is no power: write the factor several times; a transpose has its indices swapped, as in `B(j, i)`"},
      {"@", "a matrix product is written with indices, as in `A(i, j) = B(i, k) * C(k, j)`"},
      {"!", "a comment begins with `#`"},
      {"%", "there is no remainder; a comment begins with `#`"},
      {"?", "a statement has no condition; multiply by a tensor that is 1 where the term counts and 0 elsewhere"},
      {"\\", "what goes on in the next line needs no mark; leave out the `\\`"},
      {"&", calculates},
      {"|", calculates},
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
  return "names are made of the letters a to z and A to Z, digits and _; `#` starts a comment";
}

}  // namespace distal::core
