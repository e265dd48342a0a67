#pragma once

#include <cctype>
#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

// A statement such as A(i,j) = B(i,k) * C(k,j): a sum of products with single-letter indices. All C++ workers parse the
// same text with this parser, so they compute the same.
namespace leaf {

struct Access {
  std::string tensor;
  std::string indices;  // one letter per dimension
};

struct Statement {
  Access left;
  std::vector<std::vector<Access>> terms;  // each term is a list of factors

  // All accesses; the left-hand side is the first.
  std::vector<Access> accesses() const {
    std::vector<Access> all{left};
    for (const auto& term : terms) all.insert(all.end(), term.begin(), term.end());
    return all;
  }
};

using Extents = std::map<char, int64_t>;

class Parser {
 public:
  explicit Parser(const std::string& text) {
    for (char c : text) {
      if (!std::isspace(static_cast<unsigned char>(c))) text_ += c;
    }
  }

  Statement statement() {
    Statement s;
    s.left = access();
    expect('=');
    do s.terms.push_back(term());
    while (take('+'));
    if (at_ != text_.size()) fail();
    return s;
  }

 private:
  std::vector<Access> term() {
    std::vector<Access> factors;
    do factors.push_back(access());
    while (take('*'));
    return factors;
  }

  Access access() {
    Access a;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_]))) a.tensor += text_[at_++];
    if (a.tensor.empty()) fail();
    if (!take('(')) return a;  // a scalar
    do a.indices += text_.at(at_++);
    while (take(','));
    expect(')');
    return a;
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  [[noreturn]] void fail() const { throw std::runtime_error("cannot read the statement " + text_); }

  std::string text_;
  size_t at_ = 0;
};

// Reads "i=512,j=64".
inline Extents parse_extents(const std::string& text) {
  Extents extents;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) extents[one.at(0)] = std::stoll(one.substr(2));
  return extents;
}

}  // namespace leaf
