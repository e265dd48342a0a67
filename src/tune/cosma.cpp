#include "tune/cosma.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "support/checked.h"
#include "tune/cosma_cost.h"

namespace distal::core {

namespace {

// Refuses problems beyond the limits of the language, because the plan must be a legal program. Within these limits no
// count of one processor overflows, since it holds at most all tensors.
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

// A plan and its cost.
struct Candidate {
  CosmaPlan plan;
  CosmaCost cost;

  // Compares the bytes in and out of a processor, then the work of the most loaded processor, then all bytes moved.
  bool better_than(const Candidate& other) const { return key() < other.key(); }

 private:
  std::tuple<Wide, int64_t, Wide> key() const { return {cost.io_elements, cost.work, cost.moved_elements}; }
};

int64_t used_by(const CosmaPlan& plan) { return plan.gx * plan.gy * plan.gz; }

// The grids that a problem can use: all grids without empty tiles.
class Grids {
 public:
  explicit Grids(const CosmaProblem& problem) : problem_(problem) {
    x_extents_ = extents(problem.ni);
    y_extents_ = extents(problem.nj);
  }

  // Visits the grids of `fewest` to `most` processors.
  template <class F>
  void for_each(int64_t fewest, int64_t most, F&& visit) const {
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

  // The largest number of processors that can all have work. A small problem has too little work for all.
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

 private:
  // The extents that a grid dimension can have over n elements, ascending.
  std::vector<int64_t> extents(int64_t n) const {
    std::vector<int64_t> extents;
    for (int64_t parts = std::min(n, problem_.processors); parts > 0; --parts) {
      parts = nonempty_parts(n, parts);
      extents.push_back(parts);
    }
    std::reverse(extents.begin(), extents.end());
    return extents;
  }

  const CosmaProblem& problem_;
  std::vector<int64_t> x_extents_, y_extents_;
};

class Planner {
 public:
  explicit Planner(const CosmaProblem& problem)
      : problem_(problem), grids_(problem_), capacity_(problem.bytes_per_processor / problem.element_size) {}

  // COSMA's FitRanks: of all grids that use enough processors, the one with the least communication.
  CosmaPlan plan() {
    bool within_bound = true;
    for_each_range([&](int64_t fewest, int64_t most) {
      find_best(fewest, most);
      if (!best_) within_bound = false;
      return best_.has_value();
    });
    if (best_) return finished(best_->plan, within_bound);
    throw Error(fmt::format("no plan fits: a processor needs at least {} bytes and has {}",
                            least_memory() * problem_.element_size, problem_.bytes_per_processor),
                {}, "use more processors or a smaller problem", Error::Kind::Resources);
  }

 private:
  // From this many processors on, one processor may be idle, which is at most a tenth of them. A prime number of
  // processors, which forms only lines, can then be avoided.
  static constexpr int64_t kFewestWithOneIdle = 10;
  // The most grids for which sequential parts are tried. If there are more grids than that, at least one of them has
  // tiles that fit in memory without sequential parts.
  static constexpr size_t kMostCutGrids = 1000;

  // Calls `visit` with ranges of processor counts, until it returns true: first those with few enough idle processors,
  // then those with more and more.
  template <class F>
  void for_each_range(F&& visit) const {
    int64_t most = grids_.most_usable();
    int64_t idle = std::max(static_cast<int64_t>(problem_.max_idle * static_cast<double>(most)),
                            int64_t{most >= kFewestWithOneIdle});
    for (int64_t untried = most; untried > 0;) {
      int64_t fewest = std::max<int64_t>(1, most - idle);
      if (visit(fewest, untried)) return;
      untried = fewest - 1;
      idle = 2 * idle + 1;
    }
  }

  void find_best(int64_t fewest, int64_t most) {
    if (home_floor(most) > capacity_) return;
    grids_.for_each(fewest, most, [&](const CosmaPlan& grid) {
      if (tile_of(grid) <= capacity_) consider(grid);
    });
    for (const CosmaPlan& grid : grids_to_cut(fewest, most)) {
      if (!fits_uncut(grid)) for_each_cut(grid, [&](const CosmaPlan& cut) { consider(cut); });
    }
  }

  // Considers a grid with its sequential parts: with one step if that fits in memory, otherwise with the shortest
  // steps. Shorter steps do not move more.
  void consider(CosmaPlan plan) {
    plan.steps = 1;
    if (!may_be_best(plan)) return;
    if (fits(plan)) return improve(plan);
    plan.steps = most_steps(plan);
    if (may_be_best(plan) && fits(plan)) improve(plan);
  }

  bool may_be_best(const CosmaPlan& plan) const {
    return !best_ || cosma_io(problem_, plan) <= best_->cost.io_elements;
  }
  bool fits(const CosmaPlan& plan) const { return cosma_memory(problem_, plan) <= capacity_; }

  void improve(const CosmaPlan& plan) {
    Candidate candidate{plan, cosma_cost(problem_, plan)};
    Wide most = std::max(candidate.cost.moved_elements, candidate.cost.io_elements);
    bool fits_in_64_bits = most <= std::numeric_limits<int64_t>::max() / problem_.element_size;
    if (fits_in_64_bits && (!best_ || candidate.better_than(*best_))) best_ = candidate;
  }

  // Whether the grid fits in memory without sequential parts.
  bool fits_uncut(CosmaPlan grid) const {
    if (fits(grid)) return true;
    grid.steps = most_steps(grid);
    return fits(grid);
  }

  // The elements of a tile of A without sequential parts. Some processor must hold one, in its own piece or as a copy.
  int64_t tile_of(const CosmaPlan& grid) const {
    return ceil_div(problem_.ni, grid.gx) * ceil_div(problem_.nj, grid.gy);
  }
  int64_t depth_of(const CosmaPlan& plan) const { return ceil_div(problem_.nk, plan.gz); }

  // The most steps that a plan may have, without empty steps.
  int64_t most_steps(const CosmaPlan& plan) const {
    int64_t limit = kMostCosmaSteps / (used_by(plan) * plan.seqi * plan.seqj);
    return nonempty_parts(depth_of(plan), std::min(limit, depth_of(plan)));
  }

  // ---- sequential parts ----

  // Visits the sequential parts to try for a grid, fewest parts first.
  template <class F>
  void for_each_cut(const CosmaPlan& grid, F&& visit) const {
    int64_t most = kMostCosmaSteps / used_by(grid);
    // If only panels of one operand are communicated, and no tiles of A, one side of a tile does not matter.
    bool cut_i = grid.gy > 1 || grid.gz > 1;
    bool cut_j = grid.gx > 1 || grid.gz > 1;
    std::vector<int64_t> parts_of_j = sequential_parts(problem_.nj, grid.gy, cut_j ? most : 1);
    for (int64_t seqi : sequential_parts(problem_.ni, grid.gx, cut_i ? most : 1)) {
      for (int64_t seqj : parts_of_j) {
        if (seqi * seqj > most) break;
        CosmaPlan cut = grid;
        cut.seqi = seqi;
        cut.seqj = seqj;
        visit(cut);
      }
    }
  }

  // The numbers of parts to try: all small ones, then each an eighth larger than the one before. No part is empty.
  static std::vector<int64_t> sequential_parts(int64_t n, int64_t grid, int64_t most) {
    std::vector<int64_t> out;
    for (int64_t parts = 1; parts <= std::min(most, ceil_div(n, grid)); parts += std::max<int64_t>(1, parts / 8)) {
      int64_t block = ceil_div(n, grid * parts);
      int64_t nonempty = ceil_div(n, grid * block);
      if (out.empty() || nonempty > out.back()) out.push_back(nonempty);
    }
    int64_t last = ceil_div(n, grid);
    if (last <= most && out.back() < last) out.push_back(last);
    return out;
  }

  // The grids to try with sequential parts: the kMostCutGrids grids with the lowest cut_floor, which does not depend on
  // the available memory. So least_memory and the search for a plan find the same grids.
  std::vector<CosmaPlan> grids_to_cut(int64_t fewest, int64_t most) const {
    if (kMostCosmaSteps / fewest < 2) return {};  // the limit of steps leaves none for a second part
    using Entry = std::tuple<double, int64_t, int64_t, int64_t>;
    std::priority_queue<Entry> least;
    std::array<double, 4> copies = least_copies();
    grids_.for_each(fewest, most, [&](const CosmaPlan& grid) {
      Entry entry{cut_floor(grid, copies), grid.gx, grid.gy, grid.gz};
      if (least.size() == kMostCutGrids && entry >= least.top()) return;
      least.push(entry);
      if (least.size() > kMostCutGrids) least.pop();
    });
    std::vector<CosmaPlan> grids(least.size());
    for (size_t at = grids.size(); at-- > 0; least.pop()) {
      std::tie(std::ignore, grids[at].gx, grids[at].gy, grids[at].gz) = least.top();
    }
    return grids;
  }

  // An estimate of the least memory that a grid needs: home pieces, and copies of the communicated tensors.
  double cut_floor(const CosmaPlan& grid, const std::array<double, 4>& copies) const {
    int communicated = (grid.gx > 1) + (grid.gy > 1) + (grid.gz > 1);
    return static_cast<double>(home_floor(used_by(grid))) + copies[static_cast<size_t>(communicated)];
  }

  // By the number of communicated tensors: a lower bound on the elements of their copies, with steps as short as
  // kMostCosmaSteps allows.
  std::array<double, 4> least_copies() const {
    double step = static_cast<double>(problem_.ni) * static_cast<double>(problem_.nj) *
                  static_cast<double>(problem_.nk) / static_cast<double>(kMostCosmaSteps);
    step = std::max(1.0, step);
    return {0, 1, 2 * std::sqrt(step), 3 * std::cbrt(step * step)};
  }

  // A lower bound on the elements that the most loaded processor owns, if the home pieces lie on at most `processors`
  // processors.
  int64_t home_floor(int64_t processors) const {
    int64_t elements = problem_.ni * problem_.nj + problem_.ni * problem_.nk + problem_.nk * problem_.nj;
    return ceil_div(elements, processors);
  }

  // The least memory of all plans that are tried.
  int64_t least_memory() const {
    int64_t least = std::numeric_limits<int64_t>::max();
    auto try_finest = [&](CosmaPlan plan) {
      if (home_floor(used_by(plan)) >= least) return;
      least = std::min(least, cosma_memory(problem_, plan));
      plan.steps = most_steps(plan);
      least = std::min(least, cosma_memory(problem_, plan));
    };
    for_each_range([&](int64_t fewest, int64_t most) {
      if (home_floor(most) >= least) return true;
      for (const CosmaPlan& grid : grids_to_cut(fewest, most)) for_each_cut(grid, try_finest);
      grids_.for_each(fewest, most, [&](const CosmaPlan& grid) {
        if (tile_of(grid) < least) try_finest(grid);
      });
      return false;
    });
    return least;
  }

  // ---- the chosen plan ----

  // The fewest steps that fit in memory, for a plan that fits with some number of steps. The search begins at COSMA's
  // formula. The formula considers one processor only, and other processors may need shorter steps.
  int64_t fewest_steps(CosmaPlan plan) const {
    int64_t depth = depth_of(plan);
    plan.steps = 1;
    int64_t chunk = std::clamp<int64_t>(cosma_longest_step(problem_, plan, capacity_), 1, depth);
    for (; chunk > 1; --chunk) {
      plan.steps = ceil_div(depth, chunk);
      if (fits(plan)) break;
    }
    return ceil_div(depth, chunk);
  }

  CosmaPlan finished(CosmaPlan plan, bool within_bound) const {
    if (plan.steps > 1) plan.steps = std::min(plan.steps, fewest_steps(plan));
    CosmaCost cost = cosma_cost(problem_, plan);
    plan.used_processors = used_by(plan);
    plan.idle_processors = problem_.processors - plan.used_processors;
    plan.memory_forces_idle = !within_bound;
    plan.bytes_moved = bytes(cost.moved_elements);
    plan.bytes_in_and_out = bytes(cost.io_elements);
    plan.memory_per_processor = bytes(cost.memory_elements);
    return plan;
  }

  // Cannot overflow, because improve only keeps plans whose bytes fit in 64 bits.
  int64_t bytes(Wide elements) const {
    Wide total = elements * problem_.element_size;
    if (total > std::numeric_limits<int64_t>::max()) throw InternalError("the bytes moved do not fit in 64 bits");
    return static_cast<int64_t>(total);
  }

  CosmaProblem problem_;
  Grids grids_;
  int64_t capacity_;  // the elements that a processor can hold
  std::optional<Candidate> best_;
};

}  // namespace

CosmaPlan plan_cosma(const CosmaProblem& problem) {
  validate(problem);
  return Planner(problem).plan();
}

}  // namespace distal::core
