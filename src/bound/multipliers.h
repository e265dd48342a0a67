#pragma once

#include <vector>

#include "bound/box_problem.h"

namespace distal::core {

// Multipliers of the box problem for one group of processors. A set of points that touches a_t elements of each array
// has at most  prod_t a_t^(s_t) * prod_d n_d^(u_d)  points, if for each index d the exponents of the accesses that have
// it and u_d add up to at least 1.
struct Multipliers {
  std::vector<std::vector<double>> accesses;  // s, by array and access
  double of_array(size_t array) const;        // the sum over the accesses
};

// The least u_d that the exponents of the accesses leave to each index.
std::vector<double> extent_exponents(const BoxProblem& problem, const Multipliers& s);

// How the elements that a processor exchanges are best divided among the arrays, for given multipliers: the arrays'
// touched elements are max(own, s * scale).
struct Division {
  long double scale = 0;       // the points grow as exp(exchange / scale)
  long double log_points = 0;  // the most points, as a logarithm
};
// `exchange` is beyond `first_elements`, and not negative.
Division divide(const BoxProblem& problem, const BoxProblem::Group& group, const Multipliers& s, long double exchange);

// The multipliers that give the least number of points, nearly, by an interior-point method on the box problem in
// logarithms, which is convex. `exchange` is beyond `first_elements`, and positive.
Multipliers best_multipliers(const BoxProblem& problem, const BoxProblem::Group& group, double exchange);

}  // namespace distal::core
