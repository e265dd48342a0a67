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

// The limits of the language: what is planned must be a program. No processor has more than all tensors, so within them
// nothing overflows.
void refuse_too_large(const CosmaProblem& p) {
  constexpr int64_t kMostPoints = int64_t{1} << 60;
  constexpr int64_t kMostBytes = int64_t{1} << 62;
  if (p.ni > kMostPoints / p.nj / p.nk) {
    throw Error(fmt::format("NI x NJ x NK is {} x {} x {}: too many points", p.ni, p.nj, p.nk), {},
                "a statement may have up to 2^60 points");
  }
  int64_t elements = checked_add(checked_add(p.ni * p.nj, p.ni * p.nk), p.nk * p.nj);
  if (elements > kMostBytes / p.element_size) {
    throw Error(fmt::format("A, B and C have {} elements of {} bytes: too many", elements, p.element_size), {},
                "together they may have up to 2^62 bytes");
  }
}

void validate(const CosmaProblem& p) {
  auto at_least_one = [](const char* what, int64_t value) {
    if (value < 1) throw Error(fmt::format("{} is {}", what, value), {}, fmt::format("{} must be at least 1", what));
  };
  at_least_one("NI", p.ni);
  at_least_one("NJ", p.nj);
  at_least_one("NK", p.nk);
  at_least_one("PROCESSORS", p.processors);
  at_least_one("BYTES_PER_PROCESSOR", p.bytes_per_processor);
  if (p.processors > kMostCosmaProcessors) {
    throw Error(fmt::format("PROCESSORS is {}", p.processors), {},
                fmt::format("at most {} processors can be planned for", kMostCosmaProcessors));
  }
  refuse_too_large(p);
}

// A plan with what it costs, so that plans can be compared.
struct Candidate {
  CosmaPlan plan;
  CosmaCost cost;

  int64_t used() const { return plan.gx * plan.gy * plan.gz; }

  // Fewer bytes in and out of a processor; then less work on the slowest; then fewer bytes in all.
  bool better_than(const Candidate& other) const { return key() < other.key(); }

 private:
  std::tuple<Wide, int64_t, Wide> key() const { return {cost.io_elements, cost.work, cost.moved_elements}; }
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

  // Steps and sequential parts are not searched: they move more or as much, and cannot make a grid fit (CosmaCost says
  // why), so the rule's fewest steps that fit are always one.
  void consider(const CosmaPlan& grid) {
    Candidate candidate{grid, cosma_cost(problem_, grid)};
    least_memory_ = std::min(least_memory_, candidate.cost.memory_elements);
    if (candidate.cost.memory_elements > capacity_) return;
    if (!best_ || candidate.better_than(*best_)) best_ = candidate;
  }

  CosmaPlan finished(const Candidate& candidate, bool within_bound) const {
    CosmaPlan plan = candidate.plan;
    plan.used_processors = candidate.used();
    plan.idle_processors = problem_.processors - plan.used_processors;
    plan.memory_forces_idle = !within_bound;
    plan.bytes_moved = bytes(candidate.cost.moved_elements);
    plan.bytes_in_and_out = bytes(candidate.cost.io_elements);
    plan.memory_per_processor = bytes(candidate.cost.memory_elements);
    return plan;
  }

  // Within the limits of sizes the least communication is far below this one.
  int64_t bytes(Wide elements) const {
    Wide total = elements * problem_.element_size;
    if (total > std::numeric_limits<int64_t>::max()) throw InternalError("the bytes moved do not fit in 64 bits");
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
