#include "lang/read_distribution.h"

#include <fmt/format.h>

#include "lang/check_parts.h"
#include "lang/parse_int.h"

namespace distal::core {

namespace {

bool is_word_part(const Token& token) {
  return token.is_identifier() || token.kind == Token::Kind::Number || token.is("*");
}

class Reader {
 public:
  explicit Reader(TokenStream& tokens) : tokens_(tokens) {}

  RawDistribution run() {
    const Token first = tokens_.peek();
    RawDistribution raw;
    raw.left = words();
    if (!tokens_.peek().is("->")) {
      tokens_.refuse_here("`->` in the distribution",
                          first.is_word("on") ? "without a distribution there is no colon, as in `tensor A(4, 4) on M`"
                                              : "a distribution is for instance `xy -> x0`, or `row, col -> row, 0`");
    }
    while (tokens_.peek().is("->")) raw.arrows.push_back(arrow());
    raw.span = tokens_.span_from(first);
    return raw;
  }

 private:
  DistributionArrow arrow() {
    DistributionArrow arrow;
    arrow.span = tokens_.next().span;
    arrow.words = words();
    if (!at_cyclic(tokens_)) return arrow;
    arrow.own_words = arrow.words.size();
    arrow.cyclic = read_cyclic(tokens_);
    if (!tokens_.accept(",")) return arrow;
    for (DistributionWord& word : words()) arrow.words.push_back(std::move(word));
    if (!tokens_.peek().is("->")) tokens_.refuse("`->` in the distribution of the next level");
    return arrow;
  }

  // The list may be empty, and may end with a comma before an arrow: a scalar has no dimensions to name there.
  std::vector<DistributionWord> words() {
    std::vector<DistributionWord> out;
    if (tokens_.peek().is("->")) return out;
    do {
      if (!out.empty() && tokens_.peek().is("->")) break;
      out.push_back(word());
    } while (tokens_.accept(","));
    refuse_negative_face();
    return out;
  }

  DistributionWord word() {
    refuse_negative_face();
    if (tokens_.peek().starts_line && tokens_.at_assignment()) {
      tokens_.refuse_here("a dimension in the distribution", "both sides of the arrow stand on the line of the tensor");
    }
    bool is_list = tokens_.peek().is("(") && tokens_.peek(1).is_identifier() && tokens_.peek(2).is(",");
    if (is_list || tokens_.peek().is("[") || tokens_.peek().is("{")) {
      tokens_.refuse("a dimension in the distribution",
                     "a list of names stands without brackets, as in `x, y -> x, y`");
    }
    if (tokens_.peek().is("(")) return expression();
    if (!is_word_part(tokens_.peek())) {
      tokens_.refuse("a dimension in the distribution",
                     "a dimension is a name of the tensor's, a face such as 0, or `*` for broadcast");
    }
    return run_of_parts();
  }

  // Tokens that touch each other are one word. A star may stand apart, as nothing else can begin with one.
  DistributionWord run_of_parts() {
    const Token first = tokens_.peek();
    DistributionWord word;
    size_t parts = 0;
    do {
      const Token& part = tokens_.next();
      word.text += part.text;
      for (size_t i = 0; i < part.text.size(); ++i) word.columns.push_back(part.span.column + static_cast<int>(i));
      ++parts;
    } while (continues_word());
    if (parts == 1) word.token = first;
    word.span = tokens_.span_from(first);
    return word;
  }

  bool continues_word() const {
    const Token& next = tokens_.peek();
    if (next.is("*")) return !next.starts_line;
    return is_word_part(next) && tokens_.previous().touches(next);
  }

  DistributionWord expression() {
    const Token open = tokens_.next();
    DistributionWord word;
    word.face = parse_int_expr(tokens_);
    tokens_.expect_close(open, "an operator");
    word.span = tokens_.span_from(open);
    return word;
  }

  void refuse_negative_face() {
    const Token first = tokens_.peek();
    if (!first.is("-")) return;
    tokens_.next();
    if (tokens_.accept(">")) throw Error("an arrow has no space in it", tokens_.span_from(first), "write `->`");
    bool numbered = tokens_.peek().kind == Token::Kind::Number;
    std::string text = numbered ? "-" + std::string(tokens_.next().text) : "";
    core::refuse_negative_face(text, tokens_.span_from(first));
  }

  TokenStream& tokens_;
};

}  // namespace

RawDistribution read_distribution(TokenStream& tokens) { return Reader(tokens).run(); }

bool at_cyclic(const TokenStream& tokens) {
  return tokens.peek().is_word("cyclic") && tokens.peek(1).is("(") && !tokens.at_assignment();
}

std::vector<CyclicEntry> read_cyclic(TokenStream& tokens) {
  const Token first = tokens.next();
  std::vector<CyclicEntry> entries;
  tokens.list("(", "`(` after `cyclic`", [&] {
    if (tokens.peek().kind == Token::Kind::Number) {
      tokens.refuse("a dimension of the tensor",
                    fmt::format("write for instance `cyclic(x = {})`", tokens.peek().text));
    }
    const Token& name = tokens.expect_identifier("a dimension of the tensor");
    IntExpr block = tokens.accept("=") ? parse_placed_int_expr(tokens) : IntExpr(1);
    entries.push_back({{std::string(name.text), name.span}, block});
  });
  if (entries.empty()) {
    throw Error("`cyclic` names no dimension", tokens.span_from(first), "write for instance `cyclic(x = 64)`");
  }
  return entries;
}

}  // namespace distal::core
