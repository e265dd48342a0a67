#include "tune/fit_memory.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "support/checked.h"

namespace distal::core {

namespace {

// Of more loops than this, only the rotations of one order are tried, not all orders.
constexpr size_t kMostPermutedLoops = 4;

// The bytes of a tensor that is not simple are counted step by step: at most as many on a processor, and on all
// together.
constexpr int64_t kMostCountedSteps = 64;
constexpr int64_t kMostCountedOfAll = 65'536;

// A candidate, and the memory that some of its processors need.
struct PeakEstimate {
  int64_t at_least = 0;
  Candidate candidate;
};

class MemoryFitter {
 public:
  MemoryFitter(const StatementShape& shape, const Candidate& candidate, int64_t memory_bytes, bool rotates)
      : shape_(shape), base_(candidate), memory_(memory_bytes) {
    for (int i = 0; !shape.has_replicas() && i < static_cast<int>(shape.extents.size()); ++i) {
      tiles_.push_back(base_.tile_of(shape, i));
      is_rotated_.push_back(rotates && !rotating_levels(shape, base_, i).empty());
      if (tiles_.back() > 1 && !base_.deals_out(i)) indices_.push_back(i);
    }
    step_limit_ = kMostSearchedSteps / base_.processors();
    if (!shape.has_simple_accesses()) {
      step_limit_ = std::min({step_limit_, kMostCountedSteps, kMostCountedOfAll / base_.processors()});
    }
  }

  std::optional<CostedCandidate> fit() {
    consider(base_);
    if (best_) return best_;
    for (int index : indices_) consider_fewest_chunks({}, index);
    if (best_ || indices_.size() < 2) return best_;
    for_each_order([&](const std::vector<int>& order) { consider_order(order); });
    return best_;
  }

  // The candidate with all loops whose steps need little memory.
  std::vector<PeakEstimate> finest_loops() const {
    std::vector<PeakEstimate> out;
    auto add = [&](const std::vector<SequentialLoop>& loops) {
      Candidate candidate = with_loops(loops);
      int64_t peak = cost_of_some(shape_, candidate).peak_bytes;
      out.push_back({peak, std::move(candidate)});
    };
    add({});
    for (int index : indices_) add({{index, limited(tiles_[index])}});
    for_each_order([&](const std::vector<int>& order) { add(finest(order)); });
    return out;
  }

 private:
  Candidate with_loops(std::vector<SequentialLoop> loops) const {
    Candidate out = base_;
    std::erase_if(loops, [](const SequentialLoop& loop) { return loop.parts == 1; });
    for (SequentialLoop& loop : loops) loop.is_rotated = is_rotated_[loop.index];
    out.loops = std::move(loops);
    return out;
  }

  int64_t limited(int64_t parts) const { return std::clamp<int64_t>(parts, 1, std::max<int64_t>(1, step_limit_)); }

  // Loops with chunks as short as the limit of steps allows, the innermost ones shortest.
  std::vector<SequentialLoop> finest(const std::vector<int>& order) const {
    std::vector<SequentialLoop> loops;
    int64_t left = std::max<int64_t>(1, step_limit_);
    for (int index : order) loops.push_back({index, 1});
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      loop->parts = std::min(tiles_[loop->index], left);
      left /= loop->parts;
    }
    return loops;
  }

  bool consider(const Candidate& candidate) {
    CandidateCost cost = cost_of(shape_, candidate);
    if (cost.peak_bytes > memory_) return false;
    if (!best_ || exchanges_less(cost, best_->cost)) best_ = {candidate, cost};
    return true;
  }

  bool seems_to_fit(const std::vector<SequentialLoop>& loops) const {
    return cost_of_some(shape_, with_loops(loops)).peak_bytes <= memory_;
  }

  // Adds a loop over `index` inside of the given ones: with the longest chunks that fit, if any do.
  bool consider_fewest_chunks(std::vector<SequentialLoop> loops, int index) {
    int64_t steps = 1;
    for (const SequentialLoop& loop : loops) steps *= loop.parts;
    int64_t most = std::min(tiles_[index], std::max<int64_t>(1, step_limit_ / steps));
    auto with_chunk = [&](int64_t chunk) {
      loops.push_back({index, ceil_div(tiles_[index], chunk)});
      bool fit = seems_to_fit(loops);
      loops.pop_back();
      return fit;
    };
    int64_t shortest = ceil_div(tiles_[index], most), longest = tiles_[index];
    if (!with_chunk(shortest)) return false;
    while (shortest < longest) {
      int64_t middle = shortest + (longest - shortest + 1) / 2;
      if (with_chunk(middle)) {
        shortest = middle;
      } else {
        longest = middle - 1;
      }
    }
    // Some processor that was not looked at may need more.
    for (const int64_t least = ceil_div(tiles_[index], most);; shortest = std::max(least, shortest * 3 / 4)) {
      loops.push_back({index, ceil_div(tiles_[index], shortest)});
      if (consider(with_loops(loops))) return true;
      if (shortest == least) return false;
      loops.pop_back();
    }
  }

  template <class F>
  void for_each_order(F&& visit) const {
    std::vector<int> order = indices_;
    if (order.size() <= kMostPermutedLoops) {
      do {
        visit(order);
      } while (std::next_permutation(order.begin(), order.end()));
      return;
    }
    for (size_t n = 0; n < order.size(); ++n) {
      visit(order);
      std::rotate(order.begin(), order.begin() + 1, order.end());
    }
  }

  // For each choice of the outer loops the innermost loop gets the fewest chunks that fit. If none fit, one outer loop
  // gets more chunks: the one that then leads to the smallest product of memory and exchange.
  void consider_order(const std::vector<int>& order) {
    std::vector<SequentialLoop> outer;
    for (size_t i = 0; i + 1 < order.size(); ++i) outer.push_back({order[i], 1});
    if (!seems_to_fit(finest(order))) return;
    while (true) {
      if (consider_fewest_chunks(nonempty(outer), order.back())) return;
      size_t grown = outer.size();
      CandidateCost least;
      for (size_t i = 0; i < outer.size(); ++i) {
        std::vector<SequentialLoop> more = outer;
        if (!grow(more[i]) || steps_of(more) > step_limit_) continue;
        more.push_back({order.back(), tiles_[order.back()]});
        CandidateCost cost = cost_of_some(shape_, with_loops(more));
        if (grown == outer.size() || worth(cost) < worth(least)) {
          grown = i;
          least = cost;
        }
      }
      if (grown == outer.size()) return;
      grow(outer[grown]);
    }
  }

  static double worth(const CandidateCost& cost) {
    return static_cast<double>(cost.peak_bytes) * static_cast<double>(1 + cost.exchanged_bytes);
  }

  bool grow(SequentialLoop& loop) const {
    if (loop.parts >= tiles_[loop.index]) return false;
    loop.parts = std::min(tiles_[loop.index], loop.parts < 8 ? loop.parts + 1 : loop.parts + loop.parts / 4);
    return true;
  }

  static int64_t steps_of(const std::vector<SequentialLoop>& loops) {
    int64_t steps = 1;
    for (const SequentialLoop& loop : loops) steps *= loop.parts;
    return steps;
  }

  static std::vector<SequentialLoop> nonempty(std::vector<SequentialLoop> loops) {
    std::erase_if(loops, [](const SequentialLoop& loop) { return loop.parts == 1; });
    return loops;
  }

  const StatementShape& shape_;
  const Candidate& base_;
  int64_t memory_;
  std::vector<int64_t> tiles_;
  std::vector<bool> is_rotated_;  // by index: whether a loop over it is
  std::vector<int> indices_;      // those of which a processor has more than one iteration
  int64_t step_limit_ = 1;
  std::optional<CostedCandidate> best_;
};

}  // namespace

bool exchanges_less(const CandidateCost& a, const CandidateCost& b) {
  return std::tie(a.exchanged_bytes, a.bytes_moved, a.messages_of_busiest) <
         std::tie(b.exchanged_bytes, b.bytes_moved, b.messages_of_busiest);
}

std::optional<CostedCandidate> fit_memory(const StatementShape& shape, const Candidate& candidate, int64_t memory_bytes,
                                          bool rotates) {
  return MemoryFitter(shape, candidate, memory_bytes, rotates).fit();
}

int64_t least_memory(const StatementShape& shape, const std::vector<Candidate>& candidates, Progress* progress) {
  std::vector<PeakEstimate> all;
  for (const Candidate& candidate : candidates) {
    if (progress) progress->require_wanted();
    for (PeakEstimate& estimate : MemoryFitter(shape, candidate, 0, false).finest_loops())
      all.push_back(std::move(estimate));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.at_least < b.at_least; });
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const PeakEstimate& estimate : all) {
    if (progress) progress->require_wanted();
    if (estimate.at_least >= least) break;
    least = std::min(least, cost_of(shape, estimate.candidate).peak_bytes);
  }
  return least;
}

}  // namespace distal::core
