#pragma once

#include <optional>
#include <vector>

#include "lang/module.h"
#include "lang/token_stream.h"

namespace distal::core {

// One word between commas. In the short form it stands for several dimensions, one a character.
struct DistributionWord {
  std::string text;
  std::vector<int> columns;     // where each character stands
  std::optional<Token> token;   // set when the word is one name or one number
  std::optional<IntExpr> face;  // set when the word is an expression in parentheses
  SourceSpan span;
};

struct CyclicEntry {
  Name dimension;
  IntExpr block;
};

// What follows one arrow: Y of its level and, before another arrow, X of the next.
struct DistributionArrow {
  SourceSpan span;
  std::vector<DistributionWord> words;
  std::optional<size_t> own_words;  // how many of the words are Y, where a cyclic(...) tells
  std::vector<CyclicEntry> cyclic;
};

// A distribution as read: whether `xy` is one name or two depends on the machine, which is written after it.
struct RawDistribution {
  std::vector<DistributionWord> left;
  std::vector<DistributionArrow> arrows;
  SourceSpan span;
};

// Reads what stands after the colon of a tensor.
RawDistribution read_distribution(TokenStream& tokens);

// Whether a clause `cyclic(...)` stands here, and its entries.
bool at_cyclic(const TokenStream& tokens);
std::vector<CyclicEntry> read_cyclic(TokenStream& tokens);

}  // namespace distal::core
