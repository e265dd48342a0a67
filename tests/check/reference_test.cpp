#include "check/reference.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "check/evaluate.h"
#include "check/sample.h"
#include "data/random.h"

namespace distal::core {
namespace {

using Extents = std::map<std::string, int64_t>;

Access access(const std::string& tensor, const std::string& indices) {
  Access result{tensor, {}, {}};
  for (char c : indices) result.indices.push_back({std::string(1, c), {}});
  return result;
}
Expr number(double value) { return Literal{value, value == std::floor(value), "", {}}; }
Expr operator+(const Expr& a, const Expr& b) { return Expr::binary(BinaryOp::Add, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return Expr::binary(BinaryOp::Subtract, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return Expr::binary(BinaryOp::Multiply, a, b); }
Expr operator-(const Expr& a) { return Expr::negate(a); }
Statement assign(const Access& lhs, const Expr& rhs) { return {lhs, AssignOp::Assign, rhs, {}}; }
Statement accumulate(const Access& lhs, const Expr& rhs) { return {lhs, AssignOp::Accumulate, rhs, {}}; }

// Dense tensors in C order, by name.
template <class T>
struct Tensors {
  struct Dense {
    std::vector<int64_t> shape;
    std::vector<T> values;
  };
  std::map<std::string, Dense> tensors;

  Dense& add(const std::string& name, const std::vector<int64_t>& shape) {
    Dense& dense = tensors[name];
    dense.shape = shape;
    int64_t size = 1;
    for (int64_t extent : shape) size *= extent;
    for (int64_t i = 0; i < size; ++i) dense.values.push_back(random_value<T>(tensor_seed(name, 1), i));
    return dense;
  }

  T& at(const std::string& name, const std::vector<int64_t>& coordinates) {
    Dense& dense = tensors.at(name);
    int64_t place = 0;
    for (size_t d = 0; d < coordinates.size(); ++d) place = place * dense.shape[d] + coordinates[d];
    return dense.values[static_cast<size_t>(place)];
  }

  ElementReader reader() {
    return [this](const std::string& name, std::span<const int64_t> coordinates) -> const void* {
      const Dense& dense = tensors.at(name);
      EXPECT_EQ(dense.shape.size(), coordinates.size());
      int64_t place = 0;
      for (size_t d = 0; d < coordinates.size(); ++d) place = place * dense.shape[d] + coordinates[d];
      return &dense.values[static_cast<size_t>(place)];
    };
  }
};

template <class T>
constexpr ElementType type_of();
template <>
constexpr ElementType type_of<float>() {
  return ElementType::Float;
}
template <>
constexpr ElementType type_of<double>() {
  return ElementType::Double;
}
template <>
constexpr ElementType type_of<int32_t>() {
  return ElementType::Int32;
}
template <>
constexpr ElementType type_of<int64_t>() {
  return ElementType::Int64;
}
template <>
constexpr ElementType type_of<std::complex<float>>() {
  return ElementType::ComplexFloat;
}
template <>
constexpr ElementType type_of<std::complex<double>>() {
  return ElementType::ComplexDouble;
}

template <class T>
std::vector<T> evaluate(const Statement& statement, const Extents& extents, Tensors<T>& tensors) {
  std::vector<std::byte> bytes = evaluate_statement(statement, type_of<T>(), extents, tensors.reader());
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T>
CheckResult check(const Statement& statement, const Extents& extents, Tensors<T>& before, Tensors<T>& after,
                  int64_t samples = 0) {
  return check_statement(statement, type_of<T>(), extents, before.reader(), after.reader(), samples, 1);
}

const Statement kGemm = assign(access("A", "ij"), access("B", "ik") * access("C", "kj"));

template <class T>
Tensors<T> gemm_inputs(int64_t ni, int64_t nj, int64_t nk) {
  Tensors<T> tensors;
  tensors.add("A", {ni, nj});
  tensors.add("B", {ni, nk});
  tensors.add("C", {nk, nj});
  return tensors;
}

// Computes the product in the element type, as an engine does.
template <class T>
void multiply(Tensors<T>& tensors, int64_t ni, int64_t nj, int64_t nk) {
  for (int64_t i = 0; i < ni; ++i)
    for (int64_t j = 0; j < nj; ++j) {
      T sum{};
      for (int64_t k = 0; k < nk; ++k) sum += tensors.at("B", {i, k}) * tensors.at("C", {k, j});
      tensors.at("A", {i, j}) = sum;
    }
}

template <class T>
class TypedReference : public ::testing::Test {};
using Types = ::testing::Types<float, double, int32_t, int64_t, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(TypedReference, Types);

TYPED_TEST(TypedReference, AcceptsAProductAndRefusesAWrongElementOfIt) {
  using T = TypeParam;
  Extents extents{{"i", 37}, {"j", 53}, {"k", 29}};
  Tensors<T> before = gemm_inputs<T>(37, 53, 29);
  Tensors<T> after = before;
  multiply(after, 37, 53, 29);
  CheckResult result = check(kGemm, extents, before, after);
  EXPECT_TRUE(result.ok) << result.first_wrong;
  EXPECT_EQ(result.checked, 37 * 53);
  EXPECT_EQ(result.first_wrong, "");

  after.at("A", {11, 7}) += T(1);  // |A(11, 7)| is at most 29 * 64, and an integer result must be exact
  result = check(kGemm, extents, before, after);
  EXPECT_FALSE(result.ok);
  EXPECT_GT(result.max_relative_error, 1e-4);
  EXPECT_EQ(result.first_wrong.substr(0, 11), "A(11, 7) is") << result.first_wrong;
}

TYPED_TEST(TypedReference, ATermIsSummedOverItsOwnVariablesOnly) {
  using T = TypeParam;
  Tensors<T> tensors;
  for (const char* name : {"B", "D"}) tensors.add(name, {2, 3});
  tensors.add("c", {5});
  tensors.add("s", {});
  // s is outside all sums, D is outside the sums over k and l, and c is summed over l.
  Statement statement =
      assign(access("A", "i"), access("B", "ik") - (access("D", "ij") - -access("c", "l")) + access("s", ""));
  std::vector<T> got = evaluate(statement, {{"i", 2}, {"j", 3}, {"k", 3}, {"l", 5}}, tensors);
  for (int64_t i = 0; i < 2; ++i) {
    T want = tensors.at("s", {});
    for (int64_t k = 0; k < 3; ++k) want += tensors.at("B", {i, k}) - tensors.at("D", {i, k});
    for (int64_t l = 0; l < 5; ++l) want -= tensors.at("c", {l});
    EXPECT_LT(std::abs(got[static_cast<size_t>(i)] - want), 1e-5);
  }
}

TEST(Reference, AProductOfSumsIsOneTerm) {
  Tensors<int64_t> tensors;
  tensors.add("B", {4});
  tensors.add("d", {});
  // The whole product (B(k) + d) * 2 is summed over k, so d counts four times.
  Statement statement = assign(access("a", ""), (access("B", "k") + access("d", "")) * number(2));
  int64_t want = 0;
  for (int64_t k = 0; k < 4; ++k) want += (tensors.at("B", {k}) + tensors.at("d", {})) * 2;
  EXPECT_EQ(evaluate(statement, {{"k", 4}}, tensors), std::vector<int64_t>{want});
}

TEST(Reference, AccumulatesOntoTheOldValue) {
  Tensors<int64_t> tensors;
  tensors.add("A", {3});
  tensors.add("B", {3, 4});
  std::vector<int64_t> got = evaluate(accumulate(access("A", "i"), access("B", "ij")), {{"i", 3}, {"j", 4}}, tensors);
  for (int64_t i = 0; i < 3; ++i) {
    int64_t want = tensors.at("A", {i});
    for (int64_t j = 0; j < 4; ++j) want += tensors.at("B", {i, j});
    EXPECT_EQ(got[static_cast<size_t>(i)], want);
  }
}

TEST(Reference, ReadsTheOutputAsItWasBefore) {
  Tensors<int64_t> before;
  before.add("A", {3, 3});
  Tensors<int64_t> after = before;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 3; ++j) after.at("A", {i, j}) = before.at("A", {j, i});
  Statement transpose = assign(access("A", "ij"), access("A", "ji"));
  EXPECT_TRUE(check(transpose, {{"i", 3}, {"j", 3}}, before, after).ok);
}

TEST(Reference, ARepeatedIndexOnTheLeftIsADiagonal) {
  Tensors<int64_t> tensors;
  tensors.add("A", {4, 2, 4});
  tensors.add("b", {4, 2});
  Extents extents{{"i", 4}, {"j", 2}};
  std::vector<int64_t> assigned = evaluate(assign(access("A", "iji"), access("b", "ij")), extents, tensors);
  std::vector<int64_t> added = evaluate(accumulate(access("A", "iji"), access("b", "ij")), extents, tensors);
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 2; ++j)
      for (int64_t k = 0; k < 4; ++k) {
        auto place = static_cast<size_t>((i * 2 + j) * 4 + k);
        int64_t value = i == k ? tensors.at("b", {i, j}) : 0;
        EXPECT_EQ(assigned[place], value);
        EXPECT_EQ(added[place], tensors.at("A", {i, j, k}) + value);
      }
}

TEST(Reference, ARepeatedIndexOnTheRightIsATrace) {
  Tensors<int64_t> tensors;
  tensors.add("B", {5, 5});
  int64_t trace = 0;
  for (int64_t i = 0; i < 5; ++i) trace += tensors.at("B", {i, i});
  EXPECT_EQ(evaluate(assign(access("a", ""), access("B", "ii")), {{"i", 5}}, tensors), std::vector<int64_t>{trace});
}

TEST(Reference, IntegersWrapAround) {
  Tensors<int32_t> narrow;
  narrow.add("b", {}).values = {std::numeric_limits<int32_t>::max()};
  EXPECT_EQ(evaluate(assign(access("a", ""), access("b", "") + number(1)), {}, narrow),
            std::vector<int32_t>{std::numeric_limits<int32_t>::min()});
  Tensors<int64_t> wide;
  wide.add("b", {}).values = {std::numeric_limits<int64_t>::min()};
  EXPECT_EQ(evaluate(assign(access("a", ""), -access("b", "") - number(1)), {}, wide),
            std::vector<int64_t>{std::numeric_limits<int64_t>::max()});
  Statement exact = assign(access("a", ""), Literal{9007199254740993.0, true, "9007199254740993", {}});
  EXPECT_EQ(evaluate(exact, {}, wide), std::vector<int64_t>{9007199254740993});
}

TEST(Reference, TheErrorIsRelativeToWhatCancels) {
  Tensors<double> before;
  before.add("b", {}).values = {1e10};
  before.add("c", {}).values = {1e10 + 1};
  before.add("a", {});
  Tensors<double> after = before;
  Statement statement = assign(access("a", ""), access("c", "") - access("b", ""));
  after.at("a", {}) = 1 + 1e-6;  // a large error for 1, but not for a difference of two numbers of size 1e10
  EXPECT_TRUE(check(statement, {}, before, after).ok);
  after.at("a", {}) = 1.1;
  EXPECT_FALSE(check(statement, {}, before, after).ok);
}

TEST(Reference, InfinitiesAndNansMustMatch) {
  double inf = std::numeric_limits<double>::infinity();
  double nan = std::numeric_limits<double>::quiet_NaN();
  Tensors<double> before;
  before.add("b", {});
  before.add("a", {});
  Statement copy = assign(access("a", ""), access("b", ""));
  for (double want : {inf, -inf, nan, 1.0, 0.0}) {
    for (double got : {inf, -inf, nan, 1.0, 0.0}) {
      Tensors<double> after = before;
      before.at("b", {}) = want;
      after.at("a", {}) = got;
      bool same = (std::isnan(want) && std::isnan(got)) || want == got;
      EXPECT_EQ(check(copy, {}, before, after).ok, same) << want << " " << got;
    }
  }
}

TEST(Reference, OverflowAndUnderflowOfTheElementTypeAreAccepted) {
  Tensors<float> before;
  before.add("b", {});
  before.add("a", {});
  Tensors<float> after = before;
  Statement square = assign(access("a", ""), access("b", "") * access("b", ""));
  for (float value : {1e30F, 1e-30F, 3e-20F}) {
    before.at("b", {}) = value;
    after.at("a", {}) = value * value;
    EXPECT_TRUE(check(square, {}, before, after).ok) << value;
  }
}

TEST(Reference, SamplesAreDistinctAscendingAndHoldTheCorners) {
  std::vector<int64_t> shape{40, 1, 50};
  std::vector<int64_t> places;
  auto collect = [&](int64_t place) { places.push_back(place); };
  for_each_position(access("A", "ijk"), shape, 100, 7, collect);
  ASSERT_EQ(places.size(), 100U);
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  std::set<int64_t> distinct(places.begin(), places.end());
  EXPECT_EQ(distinct.size(), 100U);
  for (int64_t corner : {0, 49, 39 * 50, 39 * 50 + 49}) EXPECT_EQ(distinct.count(corner), 1U) << corner;

  for (int64_t all : {int64_t{0}, int64_t{-1}, int64_t{2000}, int64_t{9999}}) {
    places.clear();
    for_each_position(access("A", "ijk"), shape, all, 7, collect);
    EXPECT_EQ(places.size(), 2000U);
  }
  places.clear();
  for_each_position(access("A", "ijk"), shape, 1999, 7, collect);
  EXPECT_EQ(places.size(), 1999U);
  places.clear();
  for_each_position(access("A", "abcdefghijklmnopqrst"), std::vector<int64_t>(20, 4), 10, 7, collect);
  EXPECT_EQ(places.size(), 10U);
}

TEST(Reference, SamplesReachTheDiagonalOfARepeatedIndex) {
  int64_t on_diagonal = 0;
  for_each_position(access("A", "ii"), {1000, 1000}, 100, 7, [&](int64_t place) {
    if (place / 1000 == place % 1000) ++on_diagonal;
  });
  EXPECT_GE(on_diagonal, 40);
  EXPECT_LE(on_diagonal, 60);
}

TEST(Reference, AThousandSamplesOfALongSumAreQuick) {
  Extents extents{{"i", 64}, {"j", 64}, {"k", 8192}};
  Tensors<double> before = gemm_inputs<double>(64, 64, 8192);
  Tensors<double> after = before;
  auto start = std::chrono::steady_clock::now();
  CheckResult result = check(kGemm, extents, before, after, 1000);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(result.checked, 1000);
  RecordProperty("seconds", std::to_string(seconds.count()));
  EXPECT_LT(seconds.count(), 60);  // finds only a wrong complexity; sanitizers are slow
}

}  // namespace
}  // namespace distal::core
