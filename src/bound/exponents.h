#pragma once

#include "bound/proof.h"

namespace distal::core {

// Multipliers as fractions, for processors of the group that exchange this much beyond their first elements. Only the
// exponents of the proofs are set.

// The exponents with the smallest denominator at which they prove as much as the multipliers; none with small ones do.
std::optional<GroupProof> simple_exponents(const BoxProblem& problem, const BoxProblem::Group& group,
                                           const Multipliers& s, long double exchange);

// With a large denominator, at which they prove nearly as much.
GroupProof fine_exponents(const BoxProblem& problem, const BoxProblem::Group& group, const Multipliers& s,
                          long double exchange);

}  // namespace distal::core
