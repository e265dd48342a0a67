#include "bound/multipliers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace distal::core {

double Multipliers::of_array(size_t array) const {
  return std::accumulate(accesses[array].begin(), accesses[array].end(), 0.0);
}

std::vector<double> extent_exponents(const BoxProblem& problem, const Multipliers& s) {
  std::vector<double> left(problem.indices.size(), 1.0);
  for (size_t t = 0; t < problem.arrays.size(); ++t) {
    for (size_t a = 0; a < problem.arrays[t].accesses.size(); ++a) {
      for (int d : problem.arrays[t].accesses[a]) left[d] -= s.accesses[t][a];
    }
  }
  for (double& u : left) u = std::max(u, 0.0);
  return left;
}

namespace {

// An array takes part in the exchange once s * scale is above what the processor owns.
struct Share {
  long double exponent;
  long double own;
  long double begins_at() const { return own / exponent; }
};

long double scale_of(std::vector<Share> shares, long double exchange) {
  std::erase_if(shares, [](const Share& share) { return share.exponent <= 0; });
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.begins_at() < b.begins_at(); });
  long double scale = std::numeric_limits<long double>::infinity(), exponents = 0, own = 0;
  for (const Share& share : shares) {
    if (share.begins_at() >= scale) break;
    exponents += share.exponent;
    own += share.own;
    scale = (exchange + own) / exponents;
  }
  return scale;
}

}  // namespace

Division divide(const BoxProblem& problem, const BoxProblem::Group& group, const Multipliers& s, long double exchange) {
  std::vector<Share> shares;
  for (size_t t = 0; t < group.own.size(); ++t) {
    shares.push_back({s.of_array(t), static_cast<long double>(std::max<int64_t>(1, group.own[t]))});
  }
  Division out{scale_of(shares, exchange), 0};
  for (const Share& share : shares) {
    if (share.exponent <= 0) continue;
    out.log_points += share.exponent * std::log(std::max(share.own, share.exponent * out.scale));
  }
  std::vector<double> u = extent_exponents(problem, s);
  for (size_t d = 0; d < u.size(); ++d) {
    out.log_points += static_cast<long double>(u[d]) * std::log(static_cast<long double>(problem.indices[d].extent));
  }
  return out;
}

}  // namespace distal::core
