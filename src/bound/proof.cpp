#include "bound/proof.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bound/powers.h"
#include "support/text.h"

namespace distal::core {

namespace {

int of_array(const GroupProof& proof, size_t array) {
  return std::accumulate(proof.accesses[array].begin(), proof.accesses[array].end(), 0);
}

// The exponents of the indices themselves: they complete those of the accesses to 1.
std::vector<int> least_extents(const BoxProblem& problem, const GroupProof& proof) {
  std::vector<int> left(problem.indices.size(), proof.denominator);
  for (size_t t = 0; t < problem.arrays.size(); ++t) {
    for (size_t a = 0; a < problem.arrays[t].accesses.size(); ++a) {
      for (int d : problem.arrays[t].accesses[a]) left[d] -= proof.accesses[t][a];
    }
  }
  for (int& u : left) u = std::max(u, 0);
  return left;
}

int64_t owned(const BoxProblem::Group& group, size_t array) { return std::max<int64_t>(1, group.own[array]); }

// The arrays of which more is touched than owned if the processors of the group exchange `bytes` more than the first
// elements, and for each of them exponent * numerator / denominator as its touched elements. See `divide`.
std::vector<Fraction> touched_elements(const BoxProblem& problem, const BoxProblem::Group& group,
                                       const GroupProof& proof, int64_t bytes) {
  std::vector<size_t> order;
  for (size_t t = 0; t < group.own.size(); ++t) {
    if (of_array(proof, t) > 0) order.push_back(t);
  }
  // own / exponent, compared without division.
  auto begins_before = [&](size_t s, size_t t) {
    return Wide{owned(group, s)} * of_array(proof, t) < Wide{owned(group, t)} * of_array(proof, s);
  };
  std::sort(order.begin(), order.end(), begins_before);
  Wide numerator = 0, denominator = 0;  // of bytes that the arrays touch, for an exponent of 1
  for (size_t t : order) {
    Wide own_bytes = Wide{owned(group, t)} * problem.element_bytes;
    if (denominator > 0 && own_bytes * denominator >= numerator * of_array(proof, t)) break;
    numerator = (denominator == 0 ? Wide{bytes} : numerator) + own_bytes;
    denominator += of_array(proof, t);
  }
  std::vector<Fraction> touched;
  for (size_t t = 0; t < group.own.size(); ++t) {
    Wide own_bytes = Wide{owned(group, t)} * problem.element_bytes;
    bool more = denominator > 0 && own_bytes * denominator < numerator * of_array(proof, t);
    touched.push_back(more ? fraction_at_least(numerator * of_array(proof, t), denominator * problem.element_bytes)
                           : Fraction{owned(group, t), 1});
  }
  return touched;
}

std::vector<Power> powers_of(const BoxProblem& problem, const GroupProof& proof) {
  std::vector<Power> powers;
  for (size_t t = 0; t < problem.arrays.size(); ++t) powers.push_back({proof.touched[t], of_array(proof, t)});
  for (size_t d = 0; d < problem.indices.size(); ++d) {
    powers.push_back({{problem.indices[d].extent, 1}, proof.extents[d]});
  }
  return powers;
}

// A short number that is at least the product of the powers.
Fraction points_at_least(const std::vector<Power>& powers, int root) {
  constexpr int64_t too_many = int64_t{1} << 61;  // more than any statement has
  long double points = std::exp(log_of_product(powers) / static_cast<long double>(root));
  if (points > static_cast<long double>(too_many)) return {too_many, 1};
  Fraction nearest{std::max<int64_t>(1, std::llround(points)), 1};
  bool is_near = std::abs(nearest.value() - points) <= 1e-9L * points;
  if (is_near && product_is_at_most(powers, nearest, root)) return nearest;
  int64_t parts = 1;
  while (parts < 1'000'000 && points * static_cast<long double>(parts) < 1e12L) parts *= 10;
  auto scaled = static_cast<int64_t>(points * static_cast<long double>(parts) * (1 + 1e-15L));
  while (!product_is_at_most(powers, {scaled, parts}, root)) ++scaled;
  return fraction_at_least(scaled, parts);
}

// Whether a processor of the group computes fewer points if it exchanges less.
bool depends_on_exchange(const GroupProof& proof) {
  for (size_t t = 0; t < proof.accesses.size(); ++t) {
    if (of_array(proof, t) > 0) return true;
  }
  return false;
}

// Whether fewer than all points are computed with any smaller exchange.
bool is_too_few(const BoxProblem& problem, const Proof& proof) {
  constexpr int64_t unit = 1'000'000;  // a multiple of all denominators
  Wide sum = 0;
  bool depends = false;
  for (size_t g = 0; g < proof.groups.size(); ++g) {
    if (proof.groups[g].idle) continue;
    const Fraction& points = proof.groups[g].points;
    sum += Wide{problem.groups[g].processors} * points.numerator * (unit / points.denominator);
    depends = depends || depends_on_exchange(proof.groups[g]);
  }
  Wide all = Wide{problem.points()} * unit;
  return depends ? sum <= all : sum < all;
}

std::string exponent_text(int numerator, int denominator) {
  if (numerator == denominator) return "";
  return fmt::format("^({})", to_string(fraction_at_least(numerator, denominator)));
}

// "A(i, j)^(1/2) * C(k, j)^(1/2) * k^(1/2)"
std::string product_text(const BoxProblem& problem, const GroupProof& proof) {
  std::vector<std::string> factors;
  auto add = [&](const std::string& base, int exponent) {
    if (exponent > 0) factors.push_back(base + exponent_text(exponent, proof.denominator));
  };
  for (size_t t = 0; t < problem.arrays.size(); ++t) {
    const BoxProblem::Array& array = problem.arrays[t];
    for (size_t a = 0; a < array.accesses.size(); ++a) {
      std::vector<std::string> names;
      for (int d : array.accesses[a]) names.push_back(problem.indices[d].name);
      std::string access = names.empty() ? array.name : fmt::format("{}({})", array.name, fmt::join(names, ", "));
      add(access, proof.accesses[t][a]);
    }
  }
  for (size_t d = 0; d < problem.indices.size(); ++d) add(problem.indices[d].name, proof.extents[d]);
  return factors.empty() ? "1" : fmt::format("{}", fmt::join(factors, " * "));
}

std::string group_text(const BoxProblem& problem, const BoxProblem::Group& group, const GroupProof& proof) {
  std::vector<std::string> own, touched;
  for (size_t t = 0; t < problem.arrays.size(); ++t) {
    own.push_back(fmt::format("{} {}", problem.arrays[t].name, group.own[t]));
    if (proof.idle || of_array(proof, t) == 0) continue;
    touched.push_back(fmt::format("{} {}", problem.arrays[t].name, to_string(proof.touched[t])));
  }
  std::string who = group.processors == 1 ? "1 processor owns" : fmt::format("{} processors own", group.processors);
  std::string out = fmt::format("{}: {}\n", who, fmt::join(own, ", "));
  if (proof.idle)
    return out + fmt::format("  no points with fewer than {}\n", counted(first_elements(group), "element"));
  out += fmt::format("  points <= {}\n", product_text(problem, proof));
  std::string at = touched.empty() ? "" : fmt::format("at {}: ", fmt::join(touched, ", "));
  return out + fmt::format("  {}at most {} points\n", at, to_string(proof.points));
}

}  // namespace

GroupProof rounded(const BoxProblem& problem, const Multipliers& s, int denominator) {
  GroupProof out;
  out.denominator = denominator;
  for (const std::vector<double>& array : s.accesses) {
    std::vector<int>& numerators = out.accesses.emplace_back();
    for (double exponent : array) numerators.push_back(static_cast<int>(std::lround(exponent * denominator)));
  }
  out.extents = least_extents(problem, out);
  return out;
}

Multipliers multipliers_of(const GroupProof& proof) {
  Multipliers s;
  for (const std::vector<int>& array : proof.accesses) {
    std::vector<double>& exponents = s.accesses.emplace_back();
    for (int numerator : array) exponents.push_back(static_cast<double>(numerator) / proof.denominator);
  }
  return s;
}

std::optional<Proof> prove(const BoxProblem& problem, std::vector<GroupProof> exponents, int64_t bytes) {
  Proof proof{bytes, std::move(exponents)};
  int64_t busy = 0;
  for (size_t g = 0; g < problem.groups.size(); ++g) {
    GroupProof& group = proof.groups[g];
    int64_t rest = bytes - first_elements(problem.groups[g]) * problem.element_bytes;
    group.idle = rest <= 0 && first_elements(problem.groups[g]) > 0;
    if (group.idle) continue;
    ++busy;
    group.extents = least_extents(problem, group);
    group.touched = touched_elements(problem, problem.groups[g], group, rest);
  }
  for (size_t g = 0; g < problem.groups.size(); ++g) {
    GroupProof& group = proof.groups[g];
    if (group.idle) continue;
    std::vector<Power> powers = powers_of(problem, group);
    if (busy > 1) {
      group.points = points_at_least(powers, group.denominator);
      continue;
    }
    // No other processor computes anything, so these have to compute all points.
    group.points = fraction_at_least(problem.points(), problem.groups[g].processors);
    bool proven = depends_on_exchange(group) && product_is_at_most(powers, group.points, group.denominator);
    return proven ? std::optional(std::move(proof)) : std::nullopt;
  }
  return is_too_few(problem, proof) ? std::optional(std::move(proof)) : std::nullopt;
}

std::string to_string(const BoxProblem& problem, const Proof& proof) {
  std::vector<std::string> indices;
  for (const BoxProblem::Index& index : problem.indices) {
    indices.push_back(fmt::format("{} {}", index.name, index.extent));
  }
  std::string out = fmt::format("some processor exchanges at least {} bytes, in elements of {} bytes\n", proof.bytes,
                                problem.element_bytes);
  out += fmt::format("points of all processors: {} of {}\n", problem.points(), fmt::join(indices, ", "));
  for (size_t g = 0; g < proof.groups.size(); ++g) out += group_text(problem, problem.groups[g], proof.groups[g]);
  return out;
}

}  // namespace distal::core
