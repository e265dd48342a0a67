#include "lang/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lang/foreign.h"
#include "support/text.h"

namespace distal::core {

namespace {

// ASCII only, and without <cctype>, whose answers depend on the locale and on the sign of char.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }
bool continues_utf8(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

constexpr std::array<std::string_view, 3> long_symbols = {"->", "+=", "-="};
constexpr std::string_view short_symbols = "(){}[],=+-*/:.<>";

class Lexer {
 public:
  explicit Lexer(std::shared_ptr<const Source> source) : source_(std::move(source)), text_(source_->text) {}

  std::vector<Token> run() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // the byte order mark that some editors put first
    while (true) {
      skip_blanks();
      if (at_ == text_.size()) break;
      take_token();
    }
    add(Token::Kind::End, 0);
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') advance();
      } else if (is_space(text_[at_])) {
        advance();
      } else {
        return;
      }
    }
  }

  // Columns count characters, not bytes, so that the caret of an error stands under its word.
  void advance() {
    if (text_[at_] == '\n') {
      ++line_;
      column_ = 1;
      starts_line_ = true;
    } else if (!continues_utf8(text_[at_])) {
      ++column_;
    }
    ++at_;
  }

  void take_token() {
    if (is_letter(peek())) return add(Token::Kind::Identifier, identifier_length());
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return add(Token::Kind::Number, number_length());
    for (std::string_view symbol : long_symbols) {
      if (text_.substr(at_).starts_with(symbol)) return add(Token::Kind::Symbol, symbol.size());
    }
    if (short_symbols.find(peek()) != std::string_view::npos) return add(Token::Kind::Symbol, 1);
    refuse_character();
  }

  size_t identifier_length() const {
    size_t n = 1;
    while (is_letter(peek(n)) || is_digit(peek(n))) ++n;
    return n;
  }

  size_t digits_from(size_t n) const {
    while (is_digit(peek(n))) ++n;
    return n;
  }

  size_t number_length() const {
    size_t n = digits_from(0);
    if (peek(n) == '.') n = digits_from(n + 1);
    if (peek(n) != 'e' && peek(n) != 'E') return n;
    size_t sign = peek(n + 1) == '+' || peek(n + 1) == '-' ? 1 : 0;
    return is_digit(peek(n + 1 + sign)) ? digits_from(n + 1 + sign) : n;
  }

  void add(Token::Kind kind, size_t length) {
    SourceSpan span{source_, line_, column_, std::max(1, static_cast<int>(length))};
    tokens_.push_back({kind, text_.substr(at_, length), std::move(span), at_, starts_line_});
    starts_line_ = false;
    at_ += length;
    column_ += static_cast<int>(length);
  }

  [[noreturn]] void refuse_character() const {
    auto byte = static_cast<unsigned char>(peek());
    size_t length = 1;
    while (byte >= 0xC0 && continues_utf8(peek(length))) ++length;
    std::string character(text_.substr(at_, length));
    bool visible = byte != ' ' && printable(character) == character;
    std::string shown = visible ? character : fmt::format("\\x{:02x}", byte);
    throw Error(fmt::format("stray character `{}`", shown), SourceSpan{source_, line_, column_, 1},
                instead_of_character(character, is_behind_name()));
  }

  bool is_behind_name() const { return !tokens_.empty() && (tokens_.back().is_identifier() || tokens_.back().is(")")); }

  std::shared_ptr<const Source> source_;
  std::string_view text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  bool starts_line_ = true;
};

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

std::vector<Token> lex(const std::shared_ptr<const Source>& source) { return Lexer(source).run(); }

}  // namespace distal::core
