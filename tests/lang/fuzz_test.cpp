#include <gtest/gtest.h>

#include <random>

#include "lang/lexer.h"
#include "lang/parse.h"
#include "lang/validate.h"
#include "programs.h"

namespace distal::core {
namespace {

// Makes small random changes to valid programs. A mutant must parse or throw an Error, and what parses must print as a
// text that parses to the same program.
class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  std::string mutant() {
    std::string text = test::all_programs[below(test::all_programs.size())];
    for (size_t i = 0, n = 1 + below(3); i < n; ++i) {
      try {
        text = below(3) == 0 ? with_byte_changed(text) : with_token_changed(text);
      } catch (const Error&) {  // it no longer splits into tokens, so it stays as it is
        break;
      }
    }
    return text;
  }

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  std::string with_byte_changed(std::string text) {
    if (text.empty()) return text;
    size_t at = below(text.size());
    switch (below(4)) {
      case 0: return text.erase(at, 1);
      case 1: return text.insert(at, 1, text[at]);
      case 2: return text.substr(0, at);
      default: text[at] = static_cast<char>(below(256)); return text;
    }
  }

  std::string with_token_changed(std::string text) {
    auto source = std::make_shared<const Source>(Source{"", text});
    std::vector<Token> tokens = lex(source);
    const Token& token = tokens[below(tokens.size())];
    const Token& other = tokens[below(tokens.size())];
    std::string word(other.text);
    switch (below(4)) {
      case 0: return text.erase(token.offset, token.text.size());
      case 1: return text.insert(token.offset, std::string(token.text) + " ");
      case 2: return text.insert(token.offset, word);
      default: return text.replace(token.offset, token.text.size(), word);
    }
  }

  std::mt19937 random_;
};

TEST(Fuzz, MutantsAreProgramsOrErrors) {
  Mutator mutator(20240607);
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = mutator.mutant();
    SCOPED_TRACE(text);
    try {
      Module m = parse_module(text, "mutant");
      ++accepted;
      ASSERT_TRUE(parse_module(to_string(m), "again") == m) << to_string(m);
      validate(m, distal::core::bind(m, {}));
    } catch (const Error& e) {
      ASSERT_FALSE(std::string(e.what()).empty());
    } catch (const std::exception& e) {
      FAIL() << "not an Error: " << e.what();
    }
  }
  EXPECT_GT(accepted, 100);  // so that printing is tested too
}

}  // namespace
}  // namespace distal::core
