#include "lang/parse_int.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

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
  explicit IntParser(TokenStream& tokens) : tokens_(tokens) {}

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
      if (op.is("*") && tokens_.peek().is("*") && op.touches(tokens_.peek())) {
        throw Error("there is no power `**`", op.span, "write the product, as in `1024 * 1024`");
      }
      limits_.count_operator(op);
      IntExpr right = unary();
      SourceSpan span = tokens_.span_from(first);
      value =
          op.is("*") ? IntExpr::make(Kind::Mul, value, right, span) : IntExpr::make(Kind::FloorDiv, value, right, span);
    }
    return value;
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
      tokens_.expect_close(first, "an operator");
      return value;
    }
    const Token& name = tokens_.expect_identifier("a number or a param");
    if (tokens_.peek().is(".") && tokens_.peek(1).is_identifier()) {
      throw Error("an integer has no members", tokens_.peek().span,
                  "give the extent of a grid a name: `param gx = 2`, and `machine M = Grid(gx)`");
    }
    if (!tokens_.peek().is("(")) return IntExpr::name(std::string(name.text), name.span);
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
    return IntExpr::make(kind, args[0], args[1], span);
  }

  TokenStream& tokens_;
  ExpressionLimits limits_;
};

}  // namespace

IntExpr parse_int_expr(TokenStream& tokens) { return IntParser(tokens).sum(); }

IntExpr parse_placed_int_expr(TokenStream& tokens) {
  const Token first = tokens.peek();
  IntExpr parsed = parse_int_expr(tokens);
  return parsed.is_constant() ? IntExpr::constant(parsed.value(), tokens.span_from(first)) : parsed;
}

int64_t integer_value(const Token& number) {
  uint64_t value = magnitude(number);
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) refuse_huge(number);
  return static_cast<int64_t>(value);
}

}  // namespace distal::core
