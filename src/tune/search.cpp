#include "tune/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "support/checked.h"
#include "support/text.h"
#include "tune/free_formats.h"
#include "tune/grids.h"

namespace distal::core {

namespace {

constexpr size_t kMostAlternatives = 5;
// The most grids that cannot be the best and are looked at, to find alternatives.
constexpr int kMostBeyond = 20;
// After this many candidates the search ends with the best so far.
constexpr int64_t kMostConsidered = 20'000;
// After this many candidates that do not fit into memory, loops are fitted only to those that would be the best. A
// tensor that is not simple is counted step by step, which takes longer.
constexpr int kMostFitted = 64;
constexpr int kMostFittedByStep = 8;
// A refusal looks for the least memory among this many candidates: those with the smallest pieces.
constexpr size_t kMostRefused = 500;
// If a grid has more levels than this, only one order of them is tried.
constexpr size_t kMostPermutedLevels = 4;
// At most one in this many processors may be idle.
constexpr int64_t kIdlePart = 10;

class Searcher {
 public:
  Searcher(const StatementShape& shape, const SearchOptions& options)
      : shape_(shape), options_(options), grids_(shape, options.processors) {}

  SearchResult run() {
    if (!options_.given_grid.empty()) return on_given_grid();
    int64_t most = grids_.most_usable();
    for (int64_t idle = most / kIdlePart, untried = most; untried > 0;) {
      int64_t fewest = std::max<int64_t>(1, most - idle);
      search_grids(fewest, untried);
      if (!kept_.empty()) return result();
      untried = fewest - 1;
      idle = 2 * idle + 1;
    }
    refuse();
  }

 private:
  void search_grids(int64_t fewest, int64_t most) {
    auto rank = [&](const GroupGrid& grid) { return rank_of(grid); };
    int beyond = 0;
    for (const GroupGrid& grid : grids_.by_group(fewest, most, rank)) {
      bool settled = !kept_.empty() && grid.rank > value_of(kept_.front());
      if (settled && (kept_.size() > kMostAlternatives || ++beyond > kMostBeyond)) break;
      if (considered_ >= kMostConsidered) {
        is_least_ = false;
        break;
      }
      grids_.for_each(grid, [&](const std::vector<int64_t>& parts) { consider_orders(parts, grid.processors); });
    }
  }

  // Free formats follow the levels, so the order of the levels matters only if a format is given.
  void consider_orders(const std::vector<int64_t>& parts, int64_t processors) {
    std::vector<GridLevel> levels = levels_of(parts);
    bool permutes = shape_.has_given_formats() && levels.size() <= kMostPermutedLevels;
    auto by_index = [](const GridLevel& a, const GridLevel& b) { return a.index < b.index; };
    if (permutes) std::sort(levels.begin(), levels.end(), by_index);
    do {
      for (size_t l = 0; l < levels.size(); ++l) levels[l].machine_level = static_cast<int>(l);
      for_each_dealing(levels, 0, [&](const std::vector<GridLevel>& dealt) { consider(dealt, processors); });
    } while (permutes && std::next_permutation(levels.begin(), levels.end(), by_index));
  }

  SearchResult on_given_grid() {
    std::vector<std::vector<GridLevel>> all;
    std::vector<GridLevel> levels = options_.given_grid;
    choose_indices(levels, 0, all);
    int64_t most = 1;
    for (const std::vector<GridLevel>& chosen : all) most = std::max(most, working(chosen));
    for (const std::vector<GridLevel>& chosen : all) {
      if (working(chosen) >= most - most / kIdlePart) consider(chosen, 1);
    }
    for (size_t i = 0; kept_.empty() && i < all.size(); ++i) consider(all[i], 1);
    if (kept_.empty()) refuse();
    return result();
  }

  // All ways to give the dimensions of the machine indices, or none. Dimensions of one level have different ones; those
  // of several levels may cut one index again, unless there are too many ways.
  void choose_indices(std::vector<GridLevel>& levels, size_t next, std::vector<std::vector<GridLevel>>& all) const {
    if (next == levels.size()) {
      std::vector<GridLevel> chosen = levels;
      return for_each_dealing(chosen, 0, [&](const std::vector<GridLevel>& dealt) { all.push_back(dealt); });
    }
    for (int index = kNoIndex; index < static_cast<int>(shape_.extents.size()); ++index) {
      bool taken =
          std::any_of(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(next), [&](const GridLevel& level) {
            bool is_outer = level.machine_level != levels[next].machine_level;
            return level.index == index && !(is_outer && may_nest());
          });
      if (index != kNoIndex && (taken || levels[next].parts == 1)) continue;
      levels[next].index = index;
      choose_indices(levels, next + 1, all);
    }
    levels[next].index = kNoIndex;
  }

  bool may_nest() const {
    constexpr double kMostWays = 4096;
    double choices = static_cast<double>(shape_.extents.size() + 1);
    return std::pow(choices, static_cast<double>(options_.given_grid.size())) <= kMostWays;
  }

  // Visits the levels as they are. If a given format deals out the index of a level to as many processors, also visits
  // the levels with this index dealt out in the same blocks.
  template <class F>
  void for_each_dealing(std::vector<GridLevel>& levels, size_t next, const F& visit) const {
    if (next == levels.size()) return visit(levels);
    for_each_dealing(levels, next + 1, visit);
    for (const CyclicCut& cut : shape_.cyclic_cuts) {
      auto cuts_it = [&](const GridLevel& level) { return level.index == cut.index; };
      bool is_nested = std::count_if(levels.begin(), levels.end(), cuts_it) > 1;
      if (cut.index != levels[next].index || cut.parts != levels[next].parts || is_nested) continue;
      levels[next].block = cut.block;
      for_each_dealing(levels, next + 1, visit);
      levels[next].block = 0;
    }
  }

  // The number of processors that have work, if no tile is rounded up.
  int64_t working(const std::vector<GridLevel>& levels) const {
    int64_t processors = 1;
    std::vector<int64_t> extents = shape_.extents;  // what outer levels leave of each index
    for (const GridLevel& level : levels) {
      if (level.index == kNoIndex) continue;
      int64_t& extent = extents[static_cast<size_t>(level.index)];
      int64_t block = level.is_cyclic() ? level.block : ceil_div(extent, level.parts);
      processors *= std::min(level.parts, ceil_div(extent, block));
      extent = block;
    }
    return processors;
  }

  // What the search minimises first.
  double value_of(const Found& found) const {
    return options_.goal == Goal::Bytes ? static_cast<double>(found.cost.exchanged_bytes) : found.seconds;
  }

  // No candidate on such a grid has a smaller value, except that messages are an estimate.
  double rank_of(const GroupGrid& grid) const {
    double least_bytes = grid.least_bytes * (1 - 1e-9);  // it is a sum of rounded numbers
    if (options_.goal == Goal::Bytes) return least_bytes;
    double share = points() / static_cast<double>(grid.processors);
    return seconds_of(options_.model, {share * shape_.flops_per_point, 0, least_bytes, grid.messages});
  }

  double points() const {
    double points = 1;
    for (int64_t extent : shape_.extents) points *= static_cast<double>(extent);
    return points;
  }

  // Keeps the candidate on these levels if it is good enough, and at least `processors` processors have work.
  void consider(const std::vector<GridLevel>& levels, int64_t processors) {
    begin_candidate(options_.progress);
    ++considered_;
    Candidate candidate = with_free_formats(shape_, levels);
    if (options_.given_grid.empty()) candidate = flattened(shape_, candidate);
    if (tensor_in_blocks(shape_, candidate) < 0) return;
    if (options_.memory_bytes) {
      CandidateCost some = cost_of_some(shape_, candidate);
      if (some.peak_bytes > *options_.memory_bytes) return fit(candidate, some, processors);
    }
    std::optional<CandidateCost> counted = cost_unless(shape_, candidate, [&](const CandidateCost& some) {
      return kept_.size() > kMostAlternatives && is_worse(candidate, some);
    });
    if (!counted || counted->working_processors < processors) return;
    if (options_.memory_bytes && counted->peak_bytes > *options_.memory_bytes)
      return fit(candidate, *counted, processors);
    keep({candidate, *counted, seconds(candidate, *counted)});
  }

  // Keeps the candidate with steps that fit into memory, if there are any. `cost` may be an estimate.
  void fit(const Candidate& candidate, const CandidateCost& cost, int64_t processors) {
    if (working(candidate.levels) < processors) return;
    Found found{candidate, cost, seconds(candidate, cost)};
    too_large_.push_back(found);
    if (cost.home_bytes > *options_.memory_bytes) return;
    int most_fitted = shape_.has_simple_accesses() ? kMostFitted : kMostFittedByStep;
    if (static_cast<int>(too_large_.size()) > most_fitted && !kept_.empty() && !less(found, kept_.front())) return;
    for (bool rotates : {false, true}) {
      std::optional<CostedCandidate> fit = fit_memory(shape_, candidate, *options_.memory_bytes, rotates);
      if (!fit) return;  // rotated steps need more
      keep({fit->candidate, fit->cost, seconds(fit->candidate, fit->cost)});
    }
  }

  // Whether some processors alone make it worse than all candidates that are kept.
  bool is_worse(const Candidate& candidate, const CandidateCost& some) const {
    return value_of({candidate, some, seconds(candidate, some)}) > value_of(kept_.back());
  }

  double seconds(const Candidate& candidate, const CandidateCost& cost) const {
    return modelled_seconds(shape_, candidate, cost, options_.model);
  }

  bool less(const Found& a, const Found& b) const {
    auto key = [&](const Found& f) {
      double seconds = options_.goal == Goal::Time ? f.seconds : 0;
      // The levels of a found grid are none of the machine.
      int64_t crossing = options_.given_grid.empty() ? 0 : f.cost.crossing_bytes;
      return std::tuple(seconds, f.cost.exchanged_bytes, crossing, f.cost.bytes_moved, f.seconds,
                        f.candidate.levels.size(), f.candidate.loops.size());
    };
    return key(a) < key(b);
  }

  // Keeps the best candidates, in order. Of those that cost the same the first is kept.
  void keep(Found found) {
    auto costs_the_same = [&](const Found& other) { return other.cost == found.cost; };
    if (std::any_of(kept_.begin(), kept_.end(), costs_the_same)) return;
    auto place =
        std::upper_bound(kept_.begin(), kept_.end(), found, [&](const Found& a, const Found& b) { return less(a, b); });
    kept_.insert(place, std::move(found));
    if (kept_.size() > kMostAlternatives + 1) kept_.pop_back();
  }

  SearchResult result() const {
    SearchResult out{kept_.front(), {}, considered_, is_least_};
    for (Found found : too_large_) {
      if (!less(found, out.best) || out.alternatives.size() == kMostAlternatives) continue;
      found.cost = cost_of(shape_, found.candidate);
      found.seconds = seconds(found.candidate, found.cost);
      out.alternatives.push_back(
          {found, fmt::format("does not fit: a processor needs {} bytes", with_commas(found.cost.peak_bytes))});
    }
    for (size_t i = 1; i < kept_.size() && out.alternatives.size() < kMostAlternatives; ++i) {
      std::string reason = reason_against(kept_[i]);
      if (!reason.empty()) out.alternatives.push_back({kept_[i], reason});
    }
    return out;
  }

  // Why `found` was not chosen; empty if it is as good as the best.
  std::string reason_against(const Found& found) const {
    std::string reason = what_is_worse(found);
    int64_t idle = kept_.front().cost.working_processors - found.cost.working_processors;
    if (idle <= 0) return reason;
    return fmt::format("{}{}{} no work", reason, reason.empty() ? "" : ", and ",
                       counted(idle, "more processor has", "more processors have"));
  }

  std::string what_is_worse(const Found& found) const {
    const Found& best = kept_.front();
    auto more = [](int64_t a, int64_t b) { return fmt::format("{:.1f} %", 100 * (double(a) / double(b) - 1)); };
    if (found.cost.exchanged_bytes > best.cost.exchanged_bytes && best.cost.exchanged_bytes > 0) {
      return fmt::format("exchanges {} more", more(found.cost.exchanged_bytes, best.cost.exchanged_bytes));
    }
    if (found.cost.exchanged_bytes > best.cost.exchanged_bytes) return "exchanges more";
    if (found.cost.points_of_busiest > best.cost.points_of_busiest) {
      return fmt::format("its busiest processor computes {} more",
                         more(found.cost.points_of_busiest, best.cost.points_of_busiest));
    }
    if (found.cost.bytes_moved > best.cost.bytes_moved) {
      return fmt::format("all processors together move {} more", more(found.cost.bytes_moved, best.cost.bytes_moved));
    }
    if (found.cost.messages_of_busiest > best.cost.messages_of_busiest) {
      return fmt::format("{} messages at one processor instead of {}", found.cost.messages_of_busiest,
                         best.cost.messages_of_busiest);
    }
    return {};  // as good
  }

  [[noreturn]] void refuse() const {
    std::vector<Found> smallest = too_large_;
    std::stable_sort(smallest.begin(), smallest.end(),
                     [](const Found& a, const Found& b) { return a.cost.home_bytes < b.cost.home_bytes; });
    if (smallest.size() > kMostRefused) smallest.resize(kMostRefused);
    std::vector<Candidate> candidates;
    for (const Found& found : smallest) candidates.push_back(found.candidate);
    throw DoesNotFit(least_memory(shape_, candidates, options_.progress), options_.memory_bytes.value_or(0));
  }

  const StatementShape& shape_;
  const SearchOptions& options_;
  Grids grids_;
  std::vector<Found> kept_;       // the best first
  std::vector<Found> too_large_;  // without loops, in the order in which they were looked at
  int64_t considered_ = 0;
  bool is_least_ = true;
};

}  // namespace

DoesNotFit::DoesNotFit(int64_t least_bytes, int64_t memory_bytes)
    : Error(fmt::format("nothing fits: a processor needs at least {} bytes and may have {}", with_commas(least_bytes),
                        with_commas(memory_bytes)),
            {}, "allow more memory, or use more processors or smaller sizes", Error::Kind::Resources),
      least_bytes_(least_bytes) {}

double modelled_seconds(const StatementShape& shape, const Candidate& candidate, const CandidateCost& cost,
                        const MachineModel& model) {
  double leaf_bytes = 0;
  for (int t = 0; t < static_cast<int>(shape.tensors.size()); ++t) {
    const ShapeTensor& tensor = shape.tensors[static_cast<size_t>(t)];
    double bytes = static_cast<double>(tensor.element_bytes);
    for (int d = 0; d < static_cast<int>(tensor.indices.size()); ++d) {
      int index = tensor.indices[static_cast<size_t>(d)];
      bool is_cut = candidate.level_of(index) >= 0;
      bytes *= static_cast<double>(is_cut ? candidate.tile_of(shape, index) : shape.extent_of(t, d));
    }
    leaf_bytes += bytes;
  }
  return seconds_of(model, {static_cast<double>(cost.points_of_busiest) * shape.flops_per_point, leaf_bytes,
                            static_cast<double>(cost.link_bytes), static_cast<double>(cost.messages_of_busiest)});
}

void begin_candidate(Progress* progress) {
  if (!progress) return;
  progress->require_wanted();
  progress->advance();
}

SearchResult search(const StatementShape& shape, const SearchOptions& options) {
  return Searcher(shape, options).run();
}

}  // namespace distal::core
