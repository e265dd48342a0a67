#include "bound/exponents.h"

#include <array>

namespace distal::core {

namespace {

class Rounding {
 public:
  Rounding(const BoxProblem& problem, const BoxProblem::Group& group, long double exchange)
      : problem_(problem), group_(group), exchange_(exchange) {}

  long double log_points(const Multipliers& s) const { return divide(problem_, group_, s, exchange_).log_points; }
  long double log_points(const GroupProof& proof) const { return log_points(multipliers_of(proof)); }

  // Each exponent was rounded by itself, so that the exponents of an index may no longer add up to 1. Moves single
  // exponents, and pairs of them in opposite directions, as long as that gains.
  void improve(GroupProof& proof) const {
    constexpr int most_rounds = 100;
    std::vector<int*> all;
    for (std::vector<int>& array : proof.accesses) {
      for (int& numerator : array) all.push_back(&numerator);
    }
    long double best = log_points(proof);
    auto try_move = [&](int* up, int* down) {
      if (down != nullptr && *down == 0) return false;
      if (up != nullptr) ++*up;
      if (down != nullptr) --*down;
      long double now = log_points(proof);
      if (now < best) {
        best = now;
        return true;
      }
      if (up != nullptr) --*up;
      if (down != nullptr) ++*down;
      return false;
    };
    all.push_back(nullptr);
    bool gained = true;
    for (int round = 0; round < most_rounds && gained; ++round) {
      gained = false;
      for (int* up : all) {
        for (int* down : all) gained = (up != down && try_move(up, down)) || gained;
      }
    }
  }

 private:
  const BoxProblem& problem_;
  const BoxProblem::Group& group_;
  long double exchange_;
};

}  // namespace

std::optional<GroupProof> simple_exponents(const BoxProblem& problem, const BoxProblem::Group& group,
                                           const Multipliers& s, long double exchange) {
  constexpr std::array denominators{1, 2, 3, 4, 5, 6, 8, 10, 12};
  constexpr long double nothing = 1e-12L;
  Rounding rounding(problem, group, exchange);
  long double best = rounding.log_points(s);
  for (int denominator : denominators) {
    GroupProof proof = rounded(problem, s, denominator);
    if (rounding.log_points(proof) <= best + nothing) return proof;
  }
  return std::nullopt;
}

GroupProof fine_exponents(const BoxProblem& problem, const BoxProblem::Group& group, const Multipliers& s,
                          long double exchange) {
  constexpr int denominator = 840;
  GroupProof proof = rounded(problem, s, denominator);
  Rounding(problem, group, exchange).improve(proof);
  return proof;
}

}  // namespace distal::core
