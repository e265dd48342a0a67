#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "array.h"
#include "statement.h"

namespace leaf {

inline int64_t elements(const Access& access, const Extents& extents) {
  int64_t n = 1;
  for (char index : access.indices) n *= extents.at(index);
  return n;
}

// The stride of an index in a dense row-major tensor; 0 if the access does not use the index.
inline int64_t stride(const Access& access, char index, const Extents& extents) {
  int64_t result = 1;
  for (size_t d = access.indices.size(); d-- > 0; result *= extents.at(access.indices[d])) {
    if (access.indices[d] == index) return result;
  }
  return 0;
}

// A statement, its sizes and an array for each of its tensors. The constructor fills the operands.
template <class T>
struct Problem {
  Statement statement;
  Extents extents;
  std::map<std::string, Array<T>> arrays;

  Problem(const Statement& s, const Extents& e) : statement(s), extents(e) {
    int salt = 0;
    for (const Access& access : s.accesses()) {
      auto [at, is_new] = arrays.try_emplace(access.tensor);
      if (!is_new) continue;
      at->second = Array<T>(elements(access, extents));
      if (salt++ > 0) fill(at->second, salt - 1);
    }
  }

  T* data(const std::string& tensor) const { return arrays.at(tensor).data(); }
  // The bytes of all tensors.
  double bytes() const {
    double sum = 0;
    for (const auto& [tensor, array] : arrays) sum += static_cast<double>(array.size()) * sizeof(T);
    return sum;
  }
  const Array<T>& result() const { return arrays.at(statement.left.tensor); }
};

// Computes one term of one element of the result by definition, for checks.
template <class T>
class ReferenceTerm {
 public:
  ReferenceTerm(const Problem<T>& problem, const std::vector<Access>& term) : problem_(problem), term_(term) {
    for (const Access& access : term) {
      for (char index : access.indices) {
        bool known = (problem.statement.left.indices + sums_).find(index) != std::string::npos;
        if (!known) sums_ += index;
      }
    }
  }

  // Adds the term to `sum`, and the sum of the absolute values of its products to `size`.
  void add(const std::map<char, int64_t>& at, double& sum, double& size) const {
    std::vector<const T*> factors;
    for (const Access& access : term_) {
      const T* element = problem_.data(access.tensor);
      for (auto [index, x] : at) element += x * stride(access, index, problem_.extents);
      factors.push_back(element);
    }
    loop(factors, 0, sum, size);
  }

 private:
  void loop(const std::vector<const T*>& factors, size_t depth, double& sum, double& size) const {
    if (depth == sums_.size()) {
      double product = 1;
      for (const T* element : factors) product *= static_cast<double>(*element);
      sum += product;
      size += std::abs(product);
      return;
    }
    std::vector<int64_t> strides;
    for (const Access& access : term_) strides.push_back(stride(access, sums_[depth], problem_.extents));
    std::vector<const T*> inner = factors;
    for (int64_t x = 0; x < problem_.extents.at(sums_[depth]); ++x) {
      loop(inner, depth + 1, sum, size);
      for (size_t a = 0; a < inner.size(); ++a) inner[a] += strides[a];
    }
  }

  const Problem<T>& problem_;
  const std::vector<Access>& term_;
  std::string sums_;
};

// The coordinates of sample `number` of the result. The first and the last element are among the samples.
inline std::map<char, int64_t> sample(const Access& left, const Extents& extents, int number, int samples) {
  std::map<char, int64_t> at;
  for (size_t d = 0; d < left.indices.size(); ++d) {
    int64_t n = extents.at(left.indices[d]);
    int64_t x = number == 0 ? 0 : number == samples - 1 ? n - 1 : number * (977 + 364 * static_cast<int64_t>(d)) % n;
    at[left.indices[d]] = x;
  }
  return at;
}

// The largest error of the sampled elements of the result, relative to the sum of the absolute values of the products.
// Infinity if an element is NaN.
template <class T>
double largest_error(const Problem<T>& problem) {
  const Access& left = problem.statement.left;
  int samples = left.indices.empty() ? 1 : 16;
  double worst = 0;
  for (int s = 0; s < samples; ++s) {
    std::map<char, int64_t> at = sample(left, problem.extents, s, samples);
    double want = 0, size = 0;
    for (const auto& term : problem.statement.terms) ReferenceTerm<T>(problem, term).add(at, want, size);
    const T* element = problem.data(left.tensor);
    for (auto [index, x] : at) element += x * stride(left, index, problem.extents);
    double error = std::abs(static_cast<double>(*element) - want) / std::max(size, 1e-300);
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace leaf
