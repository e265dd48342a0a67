#include "lang/parse_int.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

#include "lang/suggest.h"

namespace distal::core {

namespace {

using Kind = IntExpr::Kind;

[[noreturn]] void refuse_huge(const Token& number) {
  throw Error(fmt::format("{} does not fit in 64 bits", number.text), number.span,
              fmt::format("the largest integer is {}", std::numeric_limits<int64_t>::max()));
}

uint64_t magnitude(const Token& number) {
  if (number.text.find_first_not_of("0123456789") != std::string_view::npos) {
    throw Error(fmt::format("`{}` is not an integer", number.text), number.span,
                "sizes, grids and params are whole numbers");
  }
  uint64_t value = 0;
  const char* end = number.text.data() + number.text.size();
  if (std::from_chars(number.text.data(), end, value).ec != std::errc()) refuse_huge(number);
  return value;
}

// a + (b + c) prints as a + b + c, so it is built like that: a module must parse back to itself.
IntExpr add(const IntExpr& a, const IntExpr& b, const SourceSpan& span) {
  if (b.kind() == Kind::Add || b.kind() == Kind::Sub) {
    return IntExpr::make(b.kind(), add(a, b.a(), span), b.b(), span);
  }
  return IntExpr::make(Kind::Add, a, b, span);
}

class IntParser {
 public:
  IntParser(TokenStream& tokens, const Module& module) : tokens_(tokens), module_(module) {}

  IntExpr sum() {
    const Token first = tokens_.peek();
    auto level = limits_.enter(first);
    IntExpr value = product();
    while (tokens_.peek().is("+") || tokens_.peek().is("-")) {
      const Token op = tokens_.next();
      limits_.count_operator(op);
      IntExpr right = product();
      SourceSpan span = tokens_.span_from(first);
      value = op.is("+") ? add(value, right, span) : IntExpr::make(Kind::Sub, value, right, span);
    }
    return value;
  }

 private:
  IntExpr product() {
    const Token first = tokens_.peek();
    IntExpr value = unary();
    while (tokens_.peek().is("*") || tokens_.peek().is("/")) {
      const Token op = tokens_.next();
      limits_.count_operator(op);
      IntExpr right = unary();
      SourceSpan span = tokens_.span_from(first);
      value = op.is("*") ? IntExpr::make(Kind::Mul, value, right, span) : divide(Kind::FloorDiv, value, right, span);
    }
    return value;
  }

  static IntExpr divide(Kind kind, const IntExpr& a, const IntExpr& b, const SourceSpan& span) {
    if (b.is_constant() && b.value() < 1) {
      throw Error(fmt::format("division by {}; a divisor must be at least 1", b.value()), span);
    }
    return IntExpr::make(kind, a, b, span);
  }

  IntExpr unary() {
    const Token first = tokens_.peek();
    if (!tokens_.accept("-")) return primary();
    auto level = limits_.enter(first);
    limits_.count_operator(first);
    if (tokens_.peek().kind == Token::Kind::Number) return negative_number(tokens_.next());
    IntExpr operand = unary();
    return IntExpr::make(Kind::Sub, IntExpr(0), operand, tokens_.span_from(first));
  }

  // The smallest integer has no positive counterpart, so the sign belongs to the number.
  static IntExpr negative_number(const Token& number) {
    uint64_t value = magnitude(number);
    if (value > uint64_t{1} << 63) refuse_huge(number);
    return IntExpr(static_cast<int64_t>(-value));
  }

  IntExpr primary() {
    const Token first = tokens_.peek();
    if (first.kind == Token::Kind::Number) return IntExpr(integer_value(tokens_.next()));
    if (first.is("(")) {
      tokens_.next();
      IntExpr value = sum();
      tokens_.expect_close(first);
      return value;
    }
    const Token& name = tokens_.expect_identifier("a number or a param");
    if (!tokens_.peek().is("(")) return param(name);
    if (auto kind = function_kind(name)) return call(name, *kind);
    throw Error(fmt::format("unknown function `{}`", name.text), name.span,
                "the functions of integers are `ceildiv`, `min` and `max`");
  }

  static std::optional<Kind> function_kind(const Token& name) {
    if (name.text == "ceildiv") return Kind::CeilDiv;
    if (name.text == "min") return Kind::Min;
    if (name.text == "max") return Kind::Max;
    return std::nullopt;
  }

  IntExpr call(const Token& name, Kind kind) {
    std::vector<IntExpr> args;
    tokens_.list("(", "`(`", [&] { args.push_back(sum()); });
    SourceSpan span = tokens_.span_from(name);
    if (args.size() != 2) {
      throw Error(fmt::format("`{}` takes 2 arguments, {} given", name.text, args.size()), span,
                  fmt::format("write {}(a, b)", name.text));
    }
    limits_.count_operator(name);
    return kind == Kind::CeilDiv ? divide(kind, args[0], args[1], span) : IntExpr::make(kind, args[0], args[1], span);
  }

  IntExpr param(const Token& token) const {
    std::string name(token.text);
    std::vector<std::string> known;
    for (const Param& p : module_.params) {
      if (p.name == name) return IntExpr::name(name, token.span);
      known.push_back(p.name);
    }
    std::string help = known.empty() ? "no param is declared before this; write for instance `param n = 1024`"
                                     : fmt::format("the params declared before this are {}", listing(known));
    throw Error(fmt::format("unknown param `{}`", name), token.span, help + did_you_mean(name, known));
  }

  TokenStream& tokens_;
  const Module& module_;
  ExpressionLimits limits_;
};

}  // namespace

PlacedInt parse_int_expr(TokenStream& tokens, const Module& module) {
  const Token first = tokens.peek();
  IntExpr value = IntParser(tokens, module).sum();
  return {value, tokens.span_from(first)};
}

IntExpr parse_positive_int_expr(TokenStream& tokens, const Module& module, const std::string& what) {
  PlacedInt parsed = parse_int_expr(tokens, module);
  if (parsed.value.is_constant() && parsed.value.value() < 1) {
    throw Error(fmt::format("{} is {}; it must be at least 1", what, parsed.value.value()), parsed.span);
  }
  return parsed.value;
}

int64_t integer_value(const Token& number) {
  uint64_t value = magnitude(number);
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) refuse_huge(number);
  return static_cast<int64_t>(value);
}

}  // namespace distal::core
