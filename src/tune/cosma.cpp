#include "tune/cosma.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "support/checked.h"
#include "tune/cosma_cost.h"

namespace distal::core {

namespace {

void validate(const CosmaProblem& p) {
  auto at_least_one = [](const char* what, int64_t value) {
    if (value < 1) throw Error(fmt::format("{} is {}", what, value), {}, fmt::format("{} must be at least 1", what));
  };
  at_least_one("NI", p.ni);
  at_least_one("NJ", p.nj);
  at_least_one("NK", p.nk);
  at_least_one("PROCESSORS", p.processors);
  at_least_one("BYTES_PER_PROCESSOR", p.bytes_per_processor);
  constexpr int64_t kMostProcessors = 10'000'000;
  if (p.processors > kMostProcessors) {
    throw Error(fmt::format("PROCESSORS is {}", p.processors), {},
                fmt::format("at most {} processors can be planned for", kMostProcessors));
  }
  // Home pieces and copies together are at most twice all tensors, so nothing below overflows.
  int64_t elements =
      checked_add(checked_add(checked_mul(p.ni, p.nj), checked_mul(p.ni, p.nk)), checked_mul(p.nk, p.nj));
  checked_mul(checked_mul(elements, 2), p.element_size);
  checked_mul(checked_mul(p.ni, p.nj), p.nk);
}

// A plan with what it costs, so that plans can be compared.
struct Candidate {
  CosmaPlan plan;
  CosmaCost cost;

  int64_t used() const { return plan.gx * plan.gy * plan.gz; }

  // Fewer bytes in and out of a processor; then less work on the slowest; then fewer bytes in all, fewer launches,
  // fewer steps.
  bool better_than(const Candidate& other) const { return key() < other.key(); }

 private:
  std::tuple<Wide, int64_t, Wide, int64_t, int64_t> key() const {
    return {cost.io_elements, cost.work, cost.moved_elements, plan.seqi * plan.seqj, plan.steps};
  }
};

class Planner {
 public:
  explicit Planner(const CosmaProblem& problem)
      : problem_(problem), capacity_(problem.bytes_per_processor / problem.element_size) {
    x_extents_ = grid_extents(problem.ni);
    y_extents_ = grid_extents(problem.nj);
  }

  // FitRanks: of all grids that use enough processors, the one with the least communication.
  CosmaPlan plan() {
    int64_t most = most_usable();
    int64_t idle = std::max(static_cast<int64_t>(problem_.max_idle * static_cast<double>(most)),
                            int64_t{most >= kFewestWithOneIdle});
    bool within_bound = true;
    for (int64_t untried = most; untried > 0;) {
      int64_t fewest = std::max<int64_t>(1, most - idle);
      for_each_grid(fewest, untried, [&](const CosmaPlan& grid) { consider(grid); });
      if (best_) return finished(*best_, within_bound);
      within_bound = false;
      untried = fewest - 1;
      idle = 2 * idle + 1;
    }
    throw Error(fmt::format("no plan fits: a processor needs at least {} bytes and has {}",
                            least_memory_ * problem_.element_size, problem_.bytes_per_processor),
                {}, "use more processors or a smaller problem", Error::Kind::Resources);
  }

 private:
  // From here on one idle processor is at most a tenth of them, and a prime number of them can be avoided.
  static constexpr int64_t kFewestWithOneIdle = 10;

  // The extents that a grid dimension can have over n elements without empty tiles, ascending.
  std::vector<int64_t> grid_extents(int64_t n) const {
    std::vector<int64_t> extents;
    for (int64_t parts = std::min(n, problem_.processors); parts > 0; --parts) {
      parts = nonempty_parts(n, parts);
      extents.push_back(parts);
    }
    std::reverse(extents.begin(), extents.end());
    return extents;
  }

  // All grids without empty tiles of `fewest` to `most` processors.
  template <class F>
  void for_each_grid(int64_t fewest, int64_t most, F&& visit) const {
    for (int64_t gx : x_extents_) {
      if (gx > most) break;
      for (int64_t gy : y_extents_) {
        if (gx * gy > most) break;
        for (int64_t gz = most / (gx * gy); gz > 0; --gz) {
          gz = nonempty_parts(problem_.nk, gz);
          if (gx * gy * gz < fewest) break;
          CosmaPlan grid;
          grid.gx = gx;
          grid.gy = gy;
          grid.gz = gz;
          visit(grid);
        }
      }
    }
  }

  // The most processors that can have work: a small problem cannot employ them all.
  int64_t most_usable() const {
    int64_t most = 1;
    for (int64_t gx : x_extents_) {
      for (int64_t gy : y_extents_) {
        if (gx * gy > problem_.processors) break;
        most = std::max(most, gx * gy * nonempty_parts(problem_.nk, problem_.processors / (gx * gy)));
      }
    }
    return most;
  }

  void consider(const CosmaPlan& grid) {
    // Splits and steps only add communication, and only save copies.
    Candidate whole{grid, cosma_cost(problem_, grid)};
    if (best_ && !whole.better_than(*best_)) return;
    CosmaPlan finest = grid;
    finest.seqi = ceil_div(problem_.ni, grid.gx);
    finest.seqj = ceil_div(problem_.nj, grid.gy);
    finest.steps = whole.cost.local_k;
    int64_t least = cosma_cost(problem_, finest).memory_elements();
    least_memory_ = std::min(least_memory_, least);
    if (least > capacity_) return;
    if (!try_steps(grid)) try_splits(grid);
  }

  // Finds the fewest steps with which the plan fits, the s = (S - a^2) / 2a of the paper for a tile of any shape, and
  // keeps the plan if it is the best. False if it does not fit even with one element of k a step.
  bool try_steps(CosmaPlan plan) {
    plan.steps = 1;
    CosmaCost cost = cosma_cost(problem_, plan);
    int64_t per_k = (plan.gy > 1 ? cost.tile_i : 0) + (plan.gx > 1 ? cost.tile_j : 0);
    int64_t room = capacity_ - (cost.memory_elements() - per_k * cost.local_k);
    if (room < per_k) return false;
    if (per_k > 0) plan.steps = ceil_div(cost.local_k, std::min(cost.local_k, room / per_k));
    Candidate candidate{plan, cosma_cost(problem_, plan)};
    if (!best_ || candidate.better_than(*best_)) best_ = candidate;
    return true;
  }

  // Sequential parts of i and j, for when even a tile of A with a row and a column beside it does not fit. For each
  // number of parts of i the fewest parts of j, with k in the smallest steps, and with k whole, when B need not
  // be acquired again.
  void try_splits(CosmaPlan plan) {
    int64_t local_i = ceil_div(problem_.ni, plan.gx);
    for (int64_t tile_i = local_i; tile_i > 0;) {
      plan.seqi = ceil_div(problem_.ni, plan.gx * tile_i);
      tile_i = ceil_div(problem_.ni, plan.gx * plan.seqi);
      try_parts_of_j(plan, tile_i, 1);
      try_parts_of_j(plan, tile_i, ceil_div(problem_.nk, plan.gz));
      --tile_i;
    }
  }

  void try_parts_of_j(CosmaPlan plan, int64_t tile_i, int64_t chunk_k) {
    plan.seqj = 1;
    int64_t tile_j = ceil_div(problem_.nj, plan.gy);
    int64_t per_j = (plan.gz > 1 ? tile_i : 0) + (plan.gx > 1 ? chunk_k : 0);
    int64_t room = capacity_ - cosma_cost(problem_, plan).home_elements - (plan.gy > 1 ? tile_i * chunk_k : 0);
    if (per_j > 0) tile_j = std::min(tile_j, room / per_j);
    // Rounding can make the pieces of a finer split larger, so the first tile that fits by count is only a start.
    while (room >= 0 && tile_j > 0) {
      plan.seqj = ceil_div(problem_.nj, plan.gy * tile_j);
      if (try_steps(plan)) return;
      tile_j = ceil_div(problem_.nj, plan.gy * plan.seqj) - 1;
    }
  }

  CosmaPlan finished(const Candidate& candidate, bool within_bound) const {
    CosmaPlan plan = candidate.plan;
    plan.used_processors = candidate.used();
    plan.idle_processors = problem_.processors - plan.used_processors;
    plan.memory_forces_idle = !within_bound;
    plan.bytes_moved = bytes(candidate.cost.moved_elements);
    plan.bytes_received = bytes(candidate.cost.received_elements);
    plan.bytes_in_and_out = bytes(candidate.cost.io_elements);
    plan.memory_per_processor = bytes(candidate.cost.memory_elements());
    return plan;
  }

  int64_t bytes(Wide elements) const {
    Wide total = elements * problem_.element_size;
    if (total > std::numeric_limits<int64_t>::max()) throw Error("the bytes moved do not fit in 64 bits");
    return static_cast<int64_t>(total);
  }

  CosmaProblem problem_;
  int64_t capacity_;  // elements a processor can hold
  std::vector<int64_t> x_extents_, y_extents_;
  std::optional<Candidate> best_;
  int64_t least_memory_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

CosmaPlan plan_cosma(const CosmaProblem& problem) {
  validate(problem);
  return Planner(problem).plan();
}

}  // namespace distal::core
