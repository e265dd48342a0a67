#include "lang/read_distribution.h"

#include <fmt/format.h>

#include "lang/parse_int.h"

namespace distal::core {

namespace {

bool is_word_part(const Token& token) {
  return token.is_identifier() || token.kind == Token::Kind::Number || token.is("*");
}

class Reader {
 public:
  Reader(TokenStream& tokens, const Module& module) : tokens_(tokens), module_(module) {}

  RawDistribution run() {
    const Token first = tokens_.peek();
    RawDistribution raw;
    raw.left = words();
    if (!tokens_.peek().is("->")) {
      tokens_.refuse("`->` in the distribution", "a distribution is for instance `xy -> x0`, or `row, col -> row, 0`");
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
    arrow.cyclic = read_cyclic(tokens_, module_);
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
    word.face = parse_int_expr(tokens_, module_).value;
    tokens_.expect_close(open);
    word.span = tokens_.span_from(open);
    if (word.face->is_constant() && word.face->value() < 0) refuse_face(word.face->to_string(), word.span);
    return word;
  }

  void refuse_negative_face() {
    const Token first = tokens_.peek();
    if (!first.is("-")) return;
    tokens_.next();
    bool numbered = tokens_.peek().kind == Token::Kind::Number;
    std::string text = numbered ? "-" + std::string(tokens_.next().text) : "";
    refuse_face(text, tokens_.span_from(first));
  }

  [[noreturn]] static void refuse_face(const std::string& face, const SourceSpan& span) {
    throw Error(face.empty() ? "a face cannot be negative" : fmt::format("face {} is negative", face), span,
                "the faces of a machine dimension are 0 up to its extent less 1; write a computed one in parentheses");
  }

  TokenStream& tokens_;
  const Module& module_;
};

}  // namespace

RawDistribution read_distribution(TokenStream& tokens, const Module& module) { return Reader(tokens, module).run(); }

bool at_cyclic(const TokenStream& tokens) {
  return tokens.peek().is_word("cyclic") && tokens.peek(1).is("(") && !tokens.at_assignment();
}

std::vector<CyclicEntry> read_cyclic(TokenStream& tokens, const Module& module) {
  const Token first = tokens.next();
  std::vector<CyclicEntry> entries;
  tokens.list("(", "`(` after `cyclic`", [&] {
    const Token& name = tokens.expect_identifier("a dimension of the tensor");
    IntExpr block(1);
    if (tokens.accept("=")) {
      block = parse_positive_int_expr(tokens, module, fmt::format("the cyclic block of `{}`", name.text));
    }
    entries.push_back({{std::string(name.text), name.span}, block});
  });
  if (entries.empty()) {
    throw Error("`cyclic` names no dimension", tokens.span_from(first), "write for instance `cyclic(x = 64)`");
  }
  return entries;
}

}  // namespace distal::core
