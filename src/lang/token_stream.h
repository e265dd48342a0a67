#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/lexer.h"

namespace distal::core {

// A cursor over the tokens of a source, with the few moves that every part of the parser shares.
class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  // Past the end there is always the End token.
  const Token& peek(size_t ahead = 0) const;
  const Token& next();
  const Token& previous() const { return tokens_[at_ - 1]; }
  bool at_end() const { return peek().kind == Token::Kind::End; }

  bool accept(std::string_view symbol);
  // `what` completes "expected ...", for instance "`=` after the name of the param".
  const Token& expect(std::string_view symbol, const std::string& what);
  const Token& expect_identifier(const std::string& what);
  // The bracket that closes `open`; a line that ends before it is reported at `open`, where the mistake is. `otherwise`
  // is what else may stand here.
  void expect_close(const Token& open, const std::string& otherwise = "`,`");

  // Reads "(item, item, ...)" for the given brackets, calling `item` at the start of each.
  template <class Item>
  void list(std::string_view open, const std::string& what, Item item) {
    Token first = expect(open, what);
    if (accept(closing(first))) return;
    do {
      if (at_end()) refuse_unclosed(first);
      item();
    } while (accept(","));
    expect_close(first);
  }

  // The number of tokens from here to just past the group whose bracket is `ahead` tokens from here; 0 when that
  // is no bracket or nothing closes it.
  size_t past_group(size_t ahead) const;
  // Whether the tokens from here read NAME = or NAME(...) =, or the same with += or -=: the start of a statement.
  bool at_assignment() const;

  // From `first` to the token before here, or to the end of `first` if they are on different lines.
  SourceSpan span_from(const Token& first) const;

  [[noreturn]] void refuse(const std::string& expected, const std::string& help = {}) const;
  // The same for a word that must stand on the line of the previous one.
  [[noreturn]] void refuse_here(const std::string& expected, const std::string& help = {}) const;

 private:
  SourceSpan span_behind_previous() const;
  static std::string_view closing(const Token& open);
  [[noreturn]] static void refuse_unclosed(const Token& open);

  std::vector<Token> tokens_;
  size_t at_ = 0;
};

// The word as the user wrote it, or "the end of the file", for messages.
std::string shown(const Token& token);

// Bounds what one expression may cost: the passes behind the parser walk expressions recursively, and a text with
// a million parentheses must be an error, not the end of the stack.
class ExpressionLimits {
 public:
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  [[nodiscard]] Level enter(const Token& at);
  void count_operator(const Token& at);

 private:
  int depth_ = 0;
  int operators_ = 0;
};

}  // namespace distal::core
