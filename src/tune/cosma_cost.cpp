#include "tune/cosma_cost.h"

#include <algorithm>

#include "support/checked.h"

namespace distal::core {

namespace {

// The elements that the first of `grid` processors owns when blocks are dealt out in turn: no other has more.
int64_t owned_by_first(int64_t n, int64_t block, int64_t grid) {
  int64_t round = block * grid;
  return n / round * block + std::min(n % round, block);
}

}  // namespace

CosmaCost cosma_cost(const CosmaProblem& problem, const CosmaPlan& plan) {
  CosmaCost cost{};
  cost.tile_i = ceil_div(problem.ni, plan.seqi * plan.gx);
  cost.tile_j = ceil_div(problem.nj, plan.seqj * plan.gy);
  cost.local_k = ceil_div(problem.nk, plan.gz);
  cost.chunk_k = ceil_div(cost.local_k, plan.steps);

  int64_t owned_i = owned_by_first(problem.ni, cost.tile_i, plan.gx);
  int64_t owned_j = owned_by_first(problem.nj, cost.tile_j, plan.gy);
  cost.home_elements = owned_i * owned_j + (owned_i + owned_j) * cost.local_k;
  cost.work = owned_i * owned_j * cost.local_k;
  // A piece is at home everywhere where the grid does not repeat it.
  if (plan.gz > 1) cost.copied_elements += cost.tile_i * cost.tile_j;
  if (plan.gy > 1) cost.copied_elements += cost.tile_i * cost.chunk_k;
  if (plan.gx > 1) cost.copied_elements += cost.tile_j * cost.chunk_k;

  // Where B is not at home, its chunks come once, and again in each sequential part in between which the processor
  // held others: in one step, B stays while only j moves on. C likewise.
  Wide loads_of_b = plan.gy > 1 && plan.steps > 1 ? plan.seqj : 1;
  Wide loads_of_c = plan.gx > 1 && (plan.steps > 1 || plan.seqj > 1) ? plan.seqi : 1;
  Wide out_a = Wide{owned_i} * owned_j;
  Wide in_b = loads_of_b * owned_i * cost.local_k;
  Wide in_c = loads_of_c * owned_j * cost.local_k;
  cost.io_elements = out_a + in_b + in_c;
  cost.received_elements = (plan.gz > 1 ? out_a : 0) + (plan.gy > 1 ? in_b : 0) + (plan.gx > 1 ? in_c : 0);
  cost.moved_elements = Wide{plan.gz - 1} * problem.ni * problem.nj +
                        Wide{plan.gy - 1} * problem.ni * problem.nk * loads_of_b +
                        Wide{plan.gx - 1} * problem.nk * problem.nj * loads_of_c;
  return cost;
}

int64_t nonempty_parts(int64_t n, int64_t parts) { return ceil_div(n, ceil_div(n, parts)); }

}  // namespace distal::core
