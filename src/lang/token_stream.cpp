#include "lang/token_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/check_parts.h"

namespace distal::core {

const Token& TokenStream::peek(size_t ahead) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }

const Token& TokenStream::next() {
  const Token& token = peek();
  if (!at_end()) ++at_;
  return token;
}

bool TokenStream::accept(std::string_view symbol) {
  if (!peek().is(symbol)) return false;
  next();
  return true;
}

const Token& TokenStream::expect(std::string_view symbol, const std::string& what) {
  if (!peek().is(symbol)) refuse_here(what);
  return next();
}

const Token& TokenStream::expect_identifier(const std::string& what) {
  if (!peek().is_identifier()) refuse_here(what);
  return next();
}

void TokenStream::expect_close(const Token& open, const std::string& otherwise) {
  if (accept(closing(open))) return;
  if (at_end() || peek().starts_line) refuse_unclosed(open);
  auto is_item = [](const Token& t) { return t.is_identifier() || t.kind == Token::Kind::Number; };
  bool comma = otherwise == "`,`" && is_item(previous()) && is_item(peek()) && !previous().touches(peek());
  refuse(fmt::format("{} or `{}`", otherwise, closing(open)),
         comma ? fmt::format("a comma separates two items: write `{}, {}`", previous().text, peek().text) : "");
}

std::string_view TokenStream::closing(const Token& open) {
  if (open.is("(")) return ")";
  return open.is("{") ? "}" : "]";
}

void TokenStream::refuse_unclosed(const Token& open) {
  throw Error(fmt::format("this `{}` is never closed", open.text), open.span,
              fmt::format("end it with `{}`", closing(open)));
}

size_t TokenStream::past_group(size_t ahead) const {
  size_t depth = 0;
  for (size_t i = ahead; peek(i).kind != Token::Kind::End; ++i) {
    const Token& token = peek(i);
    if (token.is("(") || token.is("{") || token.is("[")) ++depth;
    if (token.is(")") || token.is("}") || token.is("]")) --depth;
    if (depth == 0) return i == ahead ? 0 : i + 1;
  }
  return 0;
}

bool TokenStream::at_assignment() const {
  if (!peek().is_identifier()) return false;
  size_t after = peek(1).is("(") ? past_group(1) : 1;
  return after != 0 && (peek(after).is("=") || peek(after).is("+=") || peek(after).is("-="));
}

SourceSpan TokenStream::span_from(const Token& first) const {
  SourceSpan span = first.span;
  const SourceSpan& last = previous().span;
  if (last.line == span.line) span.length = std::max(span.length, last.column + last.length - span.column);
  return span;
}

SourceSpan TokenStream::span_behind_previous() const {
  SourceSpan span = previous().span;
  span.column += span.length;
  span.length = 1;
  return span;
}

void TokenStream::refuse_here(const std::string& expected, const std::string& help) const {
  if (at_end() || !peek().starts_line || at_ == 0) refuse(expected, help);
  throw Error(fmt::format("expected {}, found the end of the line", expected), span_behind_previous(), help);
}

void TokenStream::refuse(const std::string& expected, const std::string& help) const {
  SourceSpan span = peek().span;
  if (at_end() && at_ > 0) {  // just behind the last word: the end itself may be many empty lines below
    span = span_behind_previous();
  }
  throw Error(fmt::format("expected {}, found {}", expected, shown(peek())), span, help);
}

std::string shown(const Token& token) {
  return token.kind == Token::Kind::End ? "the end of the file" : fmt::format("`{}`", token.text);
}

ExpressionLimits::Level ExpressionLimits::enter(const Token& at) {
  constexpr int deepest = 200;
  if (depth_ >= deepest) {
    throw Error(fmt::format("this expression is nested more than {} levels deep", deepest), at.span,
                "name a part of it: a param for an integer, a tensor for a statement");
  }
  return Level(depth_);
}

void ExpressionLimits::count_operator(const Token& at) { check_length(++operators_, at.span); }

}  // namespace distal::core
