#include "bound/lower_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "bound/exponents.h"

namespace distal::core {

namespace {

// The points of all groups that compute any, as a function of what a processor exchanges, for fixed multipliers.
class Capacity {
 public:
  explicit Capacity(const BoxProblem& problem) : problem_(problem) { multipliers_.resize(problem.groups.size()); }

  std::vector<Multipliers>& multipliers() { return multipliers_; }
  bool works(size_t group, long double exchange) const {
    return exchange > static_cast<long double>(first_elements(problem_.groups[group]));
  }

  // The best multipliers for this exchange, for all groups that work.
  void improve(double exchange) {
    for (size_t g = 0; g < problem_.groups.size(); ++g) {
      if (!works(g, exchange)) continue;
      const BoxProblem::Group& group = problem_.groups[g];
      double rest = exchange - static_cast<double>(first_elements(group));
      multipliers_[g] = best_multipliers(problem_, group, rest);
      // The best multipliers are often simple fractions.
      if (auto simple = simple_exponents(problem_, group, multipliers_[g], rest)) {
        multipliers_[g] = multipliers_of(*simple);
      }
    }
  }

  // As a part of all points. `floor`: the groups that work at any exchange above it.
  long double at(long double exchange, long double floor) const {
    long double sum = 0, all = std::log(static_cast<long double>(problem_.points()));
    for (size_t g = 0; g < problem_.groups.size(); ++g) {
      const BoxProblem::Group& group = problem_.groups[g];
      auto first = static_cast<long double>(first_elements(group));
      if (first > floor) continue;
      long double log_points = divide(problem_, group, multipliers_[g], std::max(exchange - first, 0.0L)).log_points;
      sum += static_cast<long double>(group.processors) * std::exp(log_points - all);
    }
    return sum;
  }

  // The largest exchange between the limits with which not all points are computed.
  long double largest_too_small(long double low, long double high) const {
    long double floor = low;
    if (at(high, floor) < 1) return high;
    for (int i = 0; i < 200 && high - low > 1e-18L * high; ++i) {
      long double middle = (low + high) / 2;
      (at(middle, floor) < 1 ? low : high) = middle;
    }
    return low;
  }

 private:
  const BoxProblem& problem_;
  std::vector<Multipliers> multipliers_;
};

// An exchange, and the multipliers that prove that no smaller one suffices.
struct Least {
  long double exchange = 0;
  std::vector<Multipliers> multipliers;
};

Multipliers no_multipliers(const BoxProblem& problem) {
  Multipliers s;
  for (const BoxProblem::Array& array : problem.arrays) s.accesses.emplace_back(array.accesses.size(), 0.0);
  return s;
}

// What a processor of the group exchanges to compute everything.
long double all_elements(const BoxProblem& problem, const BoxProblem::Group& group) {
  long double sum = 0;
  for (size_t t = 0; t < problem.arrays.size(); ++t) {
    long double largest = 0;
    for (const std::vector<int>& access : problem.arrays[t].accesses) {
      long double elements = 1;
      for (int d : access) elements *= static_cast<long double>(problem.indices[d].extent);
      largest = std::max(largest, elements);
    }
    sum += std::max(0.0L, largest - static_cast<long double>(group.own[t]));
  }
  return sum;
}

// Between two numbers of first elements the same groups work. Any multipliers give a valid exchange, so the search can
// only gain: each step takes the best multipliers for an exchange, and goes on with the exchange that they prove.
Least search_between(const BoxProblem& problem, long double low, long double high) {
  constexpr int most_steps = 20;
  const long double floor = low, enough = 0.25L / static_cast<long double>(problem.element_bytes);
  Capacity capacity(problem);
  Least best{low, capacity.multipliers()};
  // With the whole tensors at hand, multipliers say nothing about an exchange of less.
  long double next = floor + (high - floor) * (1 - 1e-6L);
  for (int i = 0; i < most_steps && next - floor > enough; ++i) {
    capacity.improve(static_cast<double>(next));
    long double proven = capacity.largest_too_small(floor, high);
    if (proven > best.exchange || i == 0) best = {proven, capacity.multipliers()};
    if (std::abs(proven - next) <= 1e-8L * next) break;
    // At the lower limit these multipliers prove nothing; those of a smaller exchange may.
    next = proven > floor ? proven : floor + (next - floor) / 16;
  }
  return best;
}

Least search(const BoxProblem& problem) {
  std::set<int64_t> firsts;
  long double most = std::numeric_limits<long double>::infinity();
  for (const BoxProblem::Group& group : problem.groups) {
    firsts.insert(first_elements(group));
    most = std::min(most, all_elements(problem, group));
  }
  Least found{static_cast<long double>(*firsts.begin()), std::vector<Multipliers>(problem.groups.size())};
  for (auto first = firsts.begin(); first != firsts.end(); ++first) {
    auto low = static_cast<long double>(*first);
    if (low >= most) break;
    long double high = std::next(first) == firsts.end() ? most : static_cast<long double>(*std::next(first));
    Least least = search_between(problem, low, std::min(high, most));
    if (least.exchange > low || first == firsts.begin()) found = least;
    if (least.exchange < high) break;
  }
  return found;
}

}  // namespace

Proof lower_bound(const BoxProblem& problem) {
  Least least = search(problem);
  std::vector<GroupProof> exponents;
  for (size_t g = 0; g < problem.groups.size(); ++g) {
    const BoxProblem::Group& group = problem.groups[g];
    Multipliers& s = least.multipliers[g];
    if (s.accesses.empty()) s = no_multipliers(problem);
    long double rest = std::max(least.exchange - static_cast<long double>(first_elements(group)), 0.0L);
    std::optional<GroupProof> simple = simple_exponents(problem, group, s, rest);
    exponents.push_back(simple ? *simple : fine_exponents(problem, group, s, rest));
  }
  long double bytes = least.exchange * static_cast<long double>(problem.element_bytes);
  // Rounded exponents may prove a little less.
  for (long double less : {0.0L, 1e-12L, 1e-9L, 1e-7L, 1e-6L, 1e-5L, 1e-4L, 1e-3L, 1e-2L, 1e-1L}) {
    auto most = static_cast<int64_t>(std::floor(bytes * (1 - less) + 1e-6L));
    for (int64_t claim : {most + 1, most, most - 1}) {
      if (claim <= 0) break;
      if (std::optional<Proof> proof = prove(problem, exponents, claim)) return *proof;
    }
  }
  return {};
}

}  // namespace distal::core
