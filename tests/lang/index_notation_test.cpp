#include "lang/index_notation.h"

#include <gtest/gtest.h>

#include "lang/parse.h"
#include "lang/ranges.h"
#include "lang/validate.h"

namespace distal::core {
namespace {

Module module_of(const std::string& statement) {
  return parse_module(
      "param n = 4, m = 5\ntensor a\ntensor b\ntensor c\ntensor d\ntensor v(n)\ntensor w(n)\ntensor A(n, m)\n"
      "tensor B(n, m)\ntensor S(n, n)\n" +
          statement,
      "t.distal");
}

Statement statement_of(const std::string& text) { return module_of(text).statements[0].statement; }

std::string terms_of(const std::string& rhs) {
  std::string out;
  for (const Term& term : additive_terms(statement_of("a = " + rhs).rhs)) {
    out += (out.empty() ? "" : " ") + std::string(term.negated ? "-" : "+") + "[" + to_string(term.expr) + "]";
  }
  return out;
}

std::string names_of(const std::vector<IndexVar>& variables) {
  std::string out;
  for (const IndexVar& v : variables) out += v.name;
  return out;
}

TEST(IndexNotation, AdditiveTerms) {
  EXPECT_EQ(terms_of("b"), "+[b]");
  EXPECT_EQ(terms_of("b - (c + d)"), "+[b] -[c] -[d]");
  EXPECT_EQ(terms_of("-(b - c)"), "-[b] +[c]");
  EXPECT_EQ(terms_of("2*(b+c)"), "+[2 * (b + c)]");
  EXPECT_EQ(terms_of("-b*c + --d"), "-[b * c] +[d]");
  EXPECT_EQ(terms_of("b * -c"), "+[b * (-c)]");
}

TEST(IndexNotation, PrintsWhatParsesBack) {
  for (std::string rhs : {"b - (c - d)", "b - c - d", "-b * c", "(-b) * c", "b * (c * d)", "-(-b)", "-(b + c) * d",
                          "(b + c) * d", "b + (-c)", "b - (-c) * 2.50", "-b + c", ".5 * b", "2. - b", "1e3"}) {
    EXPECT_EQ(to_string(statement_of("a = " + rhs)), "a = " + rhs);
  }
  EXPECT_EQ(to_string(statement_of("a = ((b)) + -c - - d")), "a = b + (-c) - (-d)");
  EXPECT_EQ(to_string(statement_of("v(i)+=w(i)")), "v(i) += w(i)");
  EXPECT_EQ(to_string(Expr(Literal{2, true, "", {}})), "2");
  EXPECT_EQ(to_string(Expr(Literal{2, false, "", {}})), "2.0");
}

TEST(IndexNotation, StructureAndNotPlaceMakesEquality) {
  EXPECT_TRUE(statement_of("a = b * c") == statement_of("\n  a =   b*c"));
  EXPECT_FALSE(statement_of("a = b * c") == statement_of("a = c * b"));
  EXPECT_FALSE(statement_of("a = (b + c) + d") == statement_of("a = b + (c + d)"));
  EXPECT_FALSE(statement_of("a = b") == statement_of("a += b"));
}

TEST(IndexNotation, VariablesByFirstAppearance) {
  Statement s = statement_of("v(j) = A(i, k) * S(j, i) + A(j, k)");
  EXPECT_EQ(names_of(variables(s)), "jik");
  EXPECT_EQ(names_of(variables(s.rhs)), "ikj");
  EXPECT_EQ(names_of(reduction_variables(s)), "ik");
  EXPECT_EQ(accesses(s.rhs).size(), 3u);
  EXPECT_EQ(to_string(accesses(s.rhs)[2]), "A(j, k)");
}

TEST(IndexNotation, Copies) {
  auto copies = [](const std::string& statement) {
    Module m = parse_module("tensor A(4, 4)\ntensor B(4, 4)\ntensor C(4, 4, 4)\n" + statement + "\n", "t");
    return is_copy(m.statements[0].statement);
  };
  EXPECT_TRUE(copies("A(i, j) = B(i, j)"));
  EXPECT_TRUE(copies("A(i, j) = B(j, i)"));
  EXPECT_TRUE(copies("A(i, j) = C(i, j, j)"));
  EXPECT_FALSE(copies("A(i, j) += B(i, j)")) << "adds";
  EXPECT_FALSE(copies("A(i, j) = C(i, j, k)")) << "sums";
  EXPECT_FALSE(copies("A(i, i) = B(i, i)")) << "and the rest of A is zero";
  EXPECT_FALSE(copies("A(i, j) = -B(i, j)"));
}

TEST(IndexNotation, VariableExtents) {
  Module m = module_of("v(i) = A(i, k) * w(i)");
  auto extents = variable_extents(m, m.statements[0].statement);
  EXPECT_EQ(extents.size(), 2u);
  EXPECT_EQ(extents.at("i"), IntExpr::name("n"));
  EXPECT_EQ(extents.at("k"), IntExpr::name("m"));
}

TEST(IndexNotation, RangesOfShiftedIndices) {
  Module m = parse_module(
      "param n = 8, no = 3\ntensor A(n)\ntensor B(n)\ntensor C(n - 1)\n"
      "A(i + no) += B(i + 1) * C(j + 0)\n",
      "t");
  Bindings params = distal::core::bind(m, {});
  auto extents = variable_extents(m, m.statements[0].statement);
  EXPECT_EQ(extents.at("i").evaluate(params), 5) << "the smaller of 8 - 3 and 8 - 1";
  EXPECT_EQ(extents.at("j").evaluate(params), 7);
  m = parse_module("param no = 3\ntensor A(4)\ntensor B(9)\nA(i) = B(i + no)\n", "t");
  EXPECT_EQ(variable_extents(m, m.statements[0].statement).at("i"), IntExpr(4)) << "an unshifted access decides";
}

TEST(IndexNotation, ShiftsPrintAsTheyParse) {
  for (const auto& [written, printed] : std::vector<std::pair<std::string, std::string>>{
           {"i + 0", "i + 0"},
           {"i+no", "i + no"},
           {"i - 2", "i - 2"},
           {"i - no", "i - no"},
           {"i - (no + 1)", "i - (no + 1)"},
           {"i - no + 7", "i + 0 - no + 7"},
           {"i + 2 * no - 1", "i + 2*no - 1"},
           {"i + min(no, 2)", "i + min(no, 2)"},
           {"i + (no)", "i + no"},
       }) {
    Module m = parse_module("param no = 3\ntensor a\ntensor B(20, 20)\na += B(" + written + ", j)\n", "t");
    EXPECT_EQ(to_string(m.statements[0].statement), "a += B(" + printed + ", j)");
    EXPECT_TRUE(parse_module(to_string(m), "again") == m) << written;
  }
}

TEST(IndexNotation, ABareNameIsATensorElseAParam) {
  Module m = parse_module("param n = 3, a = 4\ntensor a\ntensor b(2)\nb(i) = 2 * n - a\n", "t");
  const auto& difference = std::get<Binary>(m.statements[0].statement.rhs.node());
  EXPECT_TRUE(std::holds_alternative<Access>(difference.right.node()));
  EXPECT_TRUE(std::holds_alternative<ParamUse>(std::get<Binary>(difference.left.node()).right.node()));
  EXPECT_TRUE(parse_module(to_string(m), "again") == m);
}

TEST(IndexNotation, SubtractNegatesTheWholeRightSide) {
  Statement s = statement_of("v(i) -= w(i) - 2 * A(i, k)");
  EXPECT_EQ(to_string(s), "v(i) -= w(i) - 2 * A(i, k)");
  std::vector<Term> terms = additive_terms(s);
  ASSERT_EQ(terms.size(), 2u);
  EXPECT_TRUE(terms[0].negated);
  EXPECT_FALSE(terms[1].negated);
}

// Statements of many kinds.
TEST(IndexNotation, CasesThatMustParse) {
  for (const char* text :
       {"v(i) = w(i) + w(i)", "A(i, j) = B(i, j)", "v(i) = A(i, j) * B(i, j) * w(i)", "a = v(i) * w(i)",
        "A(i, j) = v(i) * B(i, j)", "S(i, j) = A(i, k) * A(j, k)", "v(i) = S(i, i)", "a = 2 * b - 0.5", "v(i) = -w(i)",
        "a += S(i, j)", "v(i) = w(i) * b + 1", "A(i, j) = B(i, j) + v(i)", "a() = b()"}) {
    SCOPED_TRACE(text);
    Module m = module_of(text);
    validate(m, distal::core::bind(m, {}));
    EXPECT_TRUE(parse_module(to_string(m), "again") == m);
  }
}

}  // namespace
}  // namespace distal::core
