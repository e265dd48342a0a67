#include "tune/cosma_cost.h"

#include <algorithm>

#include "support/checked.h"

namespace distal::core {

namespace {

// A dimension of the tile of A: n elements in blocks that are dealt to the grid in turn. Each turn is a sequential
// part, and the last one may leave processors without a block.
class Dealt {
 public:
  Dealt(int64_t n, int64_t grid, int64_t parts) : n_(n), grid_(grid), block_(ceil_div(n, grid * parts)) {}

  // The elements of the first processor: no other has more.
  int64_t owned_by_first() const {
    int64_t round = block_ * grid_;
    return n_ / round * block_ + std::min(n_ % round, block_);
  }
  int64_t blocks() const { return ceil_div(n_, block_); }
  int64_t others() const { return std::min(grid_, blocks()) - 1; }
  int64_t turns_of_others() const { return blocks() - ceil_div(blocks(), grid_); }
  // The elements of the processors that have one block only.
  int64_t in_single_blocks() const {
    if (blocks() <= grid_) return n_;
    return std::max<int64_t>(0, 2 * grid_ - blocks()) * block_;
  }

 private:
  int64_t n_, grid_, block_;
};

// The elements of B and C that move for the part of k of one or more layers of the grid, `k` elements in all, which
// each layer takes in one chunk or in several. An operand comes once, and again in each sequential part in between
// which the processor held something else of it.
Wide operands_moved(const CosmaProblem& problem, const Dealt& i, const Dealt& j, int64_t k, bool several_chunks) {
  Wide loads_of_b = several_chunks ? j.turns_of_others() : j.others();
  int64_t single = several_chunks ? 0 : j.in_single_blocks();
  Wide columns_of_c = Wide{single} * i.others() + Wide{problem.nj - single} * i.turns_of_others();
  return k * (problem.ni * loads_of_b + columns_of_c);
}

}  // namespace

CosmaCost cosma_cost(const CosmaProblem& problem, const CosmaPlan& plan) {
  Dealt i(problem.ni, plan.gx, plan.seqi);
  Dealt j(problem.nj, plan.gy, plan.seqj);
  int64_t local_k = ceil_div(problem.nk, plan.gz);
  int64_t chunk_k = ceil_div(local_k, plan.steps);
  int64_t layers = ceil_div(problem.nk, local_k);
  int64_t last_k = problem.nk - (layers - 1) * local_k;
  int64_t owned_i = i.owned_by_first();
  int64_t owned_j = j.owned_by_first();

  CosmaCost cost{};
  cost.memory_elements = owned_i * owned_j + (owned_i + owned_j) * local_k;
  cost.work = owned_i * owned_j * local_k;
  cost.moved_elements = Wide{layers - 1} * problem.ni * problem.nj +
                        operands_moved(problem, i, j, problem.nk - last_k, local_k > chunk_k) +
                        operands_moved(problem, i, j, last_k, last_k > chunk_k);
  Wide loads_of_b = plan.gy > 1 && plan.steps > 1 ? plan.seqj : 1;
  Wide loads_of_c = plan.gx > 1 && (plan.steps > 1 || plan.seqj > 1) ? plan.seqi : 1;
  cost.io_elements = Wide{owned_i} * owned_j + (loads_of_b * owned_i + loads_of_c * owned_j) * local_k;
  return cost;
}

int64_t nonempty_parts(int64_t n, int64_t parts) { return ceil_div(n, ceil_div(n, parts)); }

}  // namespace distal::core
