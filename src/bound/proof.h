#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bound/fraction.h"
#include "bound/multipliers.h"

namespace distal::core {

// The multipliers of one group of processors in numbers that can be checked by hand.
struct GroupProof {
  bool idle = false;                       // exchanges too little for its first point
  int denominator = 1;                     // of all exponents
  std::vector<std::vector<int>> accesses;  // numerators, by array and access
  std::vector<int> extents;                // numerators, by index
  std::vector<Fraction> touched;           // by array: the elements at which the points are counted
  Fraction points;                         // what each processor can compute at most
};

// A proof that some processor exchanges at least `bytes`. docs/certificate.md says how to check it.
struct Proof {
  int64_t bytes = 0;
  std::vector<GroupProof> groups;  // as in the problem
};

// The exponents of a group, with `denominator` as their common denominator.
GroupProof rounded(const BoxProblem& problem, const Multipliers& s, int denominator);
Multipliers multipliers_of(const GroupProof& proof);

// Completes a proof of `bytes` from the exponents of each group; none if these exponents do not prove as much. All
// comparisons are exact.
std::optional<Proof> prove(const BoxProblem& problem, std::vector<GroupProof> exponents, int64_t bytes);

// The lines of the proof, without indentation.
std::string to_string(const BoxProblem& problem, const Proof& proof);

}  // namespace distal::core
