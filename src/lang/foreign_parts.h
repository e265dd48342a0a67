#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "lang/token_stream.h"

// What the functions that recognise forms of other languages share.
namespace distal::core {

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The span from one token to another one on the same line.
inline SourceSpan span_of(const Token& first, const Token& last) {
  SourceSpan span = first.span;
  if (last.span.line == span.line) span.length = last.span.column + last.span.length - span.column;
  return span;
}

}  // namespace distal::core
