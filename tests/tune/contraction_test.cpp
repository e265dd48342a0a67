#include "tune/contraction.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tune/random_statements.h"
#include "tune/term_products.h"

namespace distal::core {
namespace {

using test::Random;

Product random_product(Random& random, int64_t factors, int64_t indices) {
  Product out;
  for (int64_t i = 0; i < indices; ++i) out.extents.push_back(random.pick(1, 30));
  out.factors.resize(static_cast<size_t>(factors));
  for (int i = 0; i < static_cast<int>(indices); ++i) {
    out.factors[static_cast<size_t>(random.pick(0, factors - 1))].push_back(i);
    for (std::vector<int>& factor : out.factors) {
      bool has = std::find(factor.begin(), factor.end(), i) != factor.end();
      if (!has && random.pick(0, 2) == 0) factor.push_back(i);
    }
    if (random.pick(0, 2) == 0) out.result.push_back(i);
  }
  return out;
}

double elements_of(const std::vector<int>& indices, const std::vector<int64_t>& extents) {
  double out = 1;
  for (int i : indices) out *= static_cast<double>(extents[static_cast<size_t>(i)]);
  return out;
}

// The least flops of all orders, by trying everything: any inputs are multiplied or summed, until one is left.
double least_flops(const std::vector<std::vector<int>>& inputs, const Product& product) {
  if (inputs.empty()) return 0;
  double least = kernel_flops(inputs, product.result, product.extents);
  for (size_t chosen = 1; chosen < (size_t{1} << inputs.size()); ++chosen) {
    std::vector<std::vector<int>> multiplied, rest;
    for (size_t t = 0; t < inputs.size(); ++t) ((chosen >> t & 1) != 0 ? multiplied : rest).push_back(inputs[t]);
    std::set<int> used, needed(product.result.begin(), product.result.end());
    for (const std::vector<int>& input : multiplied) used.insert(input.begin(), input.end());
    for (const std::vector<int>& input : rest) needed.insert(input.begin(), input.end());
    std::vector<int> made;
    for (int i : used) {
      if (needed.count(i) > 0) made.push_back(i);
    }
    bool is_pointless = multiplied.size() == 1 && made.size() == multiplied[0].size();
    if (rest.empty() || is_pointless) continue;
    double flops = kernel_flops(multiplied, made, product.extents);
    rest.push_back(made);
    least = std::min(least, flops + least_flops(rest, product));
  }
  return least;
}

// The flops and elements of an order, from its parts alone; each factor and each part is used once.
std::pair<double, double> recount(const Product& product, const ContractionOrder& order) {
  std::vector<std::vector<int>> all = product.factors;
  std::set<int> used;
  double flops = 0, elements = 0;
  for (const ContractionPart& part : order.parts) {
    std::vector<std::vector<int>> inputs;
    for (int input : part.inputs) {
      EXPECT_TRUE(used.insert(input).second);
      inputs.push_back(all.at(static_cast<size_t>(input)));
      elements += elements_of(inputs.back(), product.extents);
    }
    flops += kernel_flops(inputs, part.result, product.extents);
    elements += elements_of(part.result, product.extents);
    all.push_back(part.result);
  }
  EXPECT_EQ(used.size() + 1, all.size());
  std::vector<int> result = product.result;
  std::sort(result.begin(), result.end());
  EXPECT_EQ(order.parts.back().result, result);
  return {flops, elements};
}

TEST(Contraction, FindsTheLeastFlopsOfAllOrders) {
  Random random{std::mt19937(6)};
  for (int round = 0; round < 300; ++round) {
    Product product = random_product(random, random.pick(2, 5), random.pick(1, 6));
    std::vector<ContractionOrder> orders = contraction_orders(product);
    double least = std::numeric_limits<double>::infinity();
    for (const ContractionOrder& order : orders) {
      auto [flops, elements] = recount(product, order);
      ASSERT_NEAR(order.flops, flops, 1e-9 * flops);
      ASSERT_NEAR(order.elements, elements, 1e-9 * elements);
      least = std::min(least, flops);
    }
    double expected = least_flops(product.factors, product);
    ASSERT_NEAR(least, expected, 1e-9 * expected);
    for (const ContractionOrder& order : orders) EXPECT_LE(order.flops, 1.1 * least * (1 + 1e-9));
    for (size_t o = 1; o < orders.size(); ++o) EXPECT_LE(orders[o - 1].elements, orders[o].elements);
  }
}

Product product_of(const std::string& text, const std::string& settings = {}) {
  Module module = test::parse_text(text);
  StatementShape shape = test::shape_of_text(text, settings);
  return term_products(module.statements[0].statement, shape.extents)[0].product;
}

// Four transformations of one index each, of 2 n^5 flops.
TEST(Contraction, TheTransformationOfFourIndicesTakesOneAtATime) {
  ContractionOrder order = contraction_orders(product_of(R"(param n = 20
tensor A(n, n, n, n)
tensor I(n, n, n, n)
tensor P(n, n)
tensor Q(n, n)
tensor R(n, n)
tensor S(n, n)
A(p, q, r, s) = P(p, i) * Q(q, j) * I(i, j, k, l) * R(r, k) * S(s, l)
)"))[0];
  EXPECT_EQ(order.parts.size(), 4);
  EXPECT_DOUBLE_EQ(order.flops, 4 * 2 * std::pow(20, 5));
}

// A leaf multiplies the tensor with one matrix, and blocks of the result with the other one: no workspace has fewer
// flops, and it would only be read and written.
TEST(Contraction, MttkrpIsOnePart) {
  Product mttkrp = product_of(test::algorithm_text("mttkrp"), "ni=100,nj=100,nk=100,nl=16");
  ContractionOrder best = contraction_orders(mttkrp)[0];
  EXPECT_EQ(best.parts.size(), 1);
  EXPECT_DOUBLE_EQ(best.flops, 2e6 * 16 + 2e4 * 16);
  EXPECT_EQ(best.parts, fused_order(mttkrp).parts);
  EXPECT_EQ(best.flops, fused_order(mttkrp).flops);
}

TEST(Contraction, SumsOfOneFactorComeFirst) {
  Product product{{{0, 1, 2}, {1, 3}}, {0, 3}, {50, 50, 50, 50}};
  ContractionOrder best = contraction_orders(product)[0];
  ASSERT_EQ(best.parts.size(), 2);
  EXPECT_EQ(best.parts[0], (ContractionPart{{0}, {0, 1}}));
  EXPECT_DOUBLE_EQ(best.flops, 125'000 + 2 * 125'000);
}

// Chains of twelve matrices: the order is right, and not much worse than the best, which dynamic programming over the
// positions of brackets finds.
TEST(Contraction, LongChainsAreGreedyFirst) {
  Random random{std::mt19937(7)};
  constexpr int kMatrices = 12;
  double ratio = 0;
  for (int round = 0; round < 20; ++round) {
    Product product;
    for (int i = 0; i <= kMatrices; ++i) product.extents.push_back(random.pick(8, 40));
    for (int i = 0; i < kMatrices; ++i) product.factors.push_back({i, i + 1});
    product.result = {0, kMatrices};
    ContractionOrder best = contraction_orders(product)[0];
    recount(product, best);
    std::vector<std::vector<double>> least(kMatrices + 1, std::vector<double>(kMatrices + 1, 0));
    for (int length = 2; length <= kMatrices; ++length) {
      for (int first = 0; first + length <= kMatrices; ++first) {
        int last = first + length;
        least[first][last] = std::numeric_limits<double>::infinity();
        for (int cut = first + 1; cut < last; ++cut) {
          double flops = 2 * elements_of({first, cut, last}, product.extents);
          least[first][last] = std::min(least[first][last], flops + least[first][cut] + least[cut][last]);
        }
      }
    }
    ratio = std::max(ratio, best.flops / least[0][kMatrices]);
  }
  EXPECT_LT(ratio, 1.6);
}

// A product of two factors with one sum each counts no matrix product.
TEST(Contraction, KernelsThatAreNoMatrixProductMultiplyAtEveryPoint) {
  EXPECT_DOUBLE_EQ(kernel_flops({{0, 1}, {1}}, {0}, {10, 20}), 400);                 // a matrix times a vector
  EXPECT_DOUBLE_EQ(kernel_flops({{0, 1}, {1, 2}, {1}}, {0, 2}, {10, 20, 5}), 3000);  // no pair has a sum of its own
  EXPECT_DOUBLE_EQ(kernel_flops({{0, 1}}, {0, 1}, {10, 20}), 0);                     // a copy
  EXPECT_DOUBLE_EQ(kernel_flops({{0, 1}}, {0}, {10, 20}), 200);                      // a sum
}

}  // namespace
}  // namespace distal::core
