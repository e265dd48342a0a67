#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace distal::core {

// One word of a .distal text. No identifier is a keyword here: what a word means depends on where it stands.
struct Token {
  enum class Kind { Identifier, Number, Symbol, End };

  Kind kind = Kind::End;
  std::string_view text;  // into the source, which `span` keeps alive
  SourceSpan span;
  size_t offset = 0;         // of its first byte, so that `x*` and `x *` can be told apart
  bool starts_line = false;  // the first token of its line

  bool is(std::string_view symbol) const { return kind == Kind::Symbol && text == symbol; }
  bool is_identifier() const { return kind == Kind::Identifier; }
  bool is_word(std::string_view word) const { return kind == Kind::Identifier && text == word; }
  bool touches(const Token& next) const { return offset + text.size() == next.offset; }
};

// Cuts a source into tokens, the last of them End; comments and white space vanish. A character that belongs to
// no token is an Error.
std::vector<Token> lex(const std::shared_ptr<const Source>& source);

// Whether the text is a name.
bool is_identifier(std::string_view text);

}  // namespace distal::core
