#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lang/block_cyclic.h"
#include "support/checked.h"

namespace distal::core {

struct Extent {
  int64_t lo = 0;
  int64_t hi = 0;
  int64_t length() const { return std::max<int64_t>(0, hi - lo); }
};

// One dimension of a tensor for one processor: the coordinates that it computes with, and those that it owns. Both are
// relative to the start of its tile.
struct DimensionView {
  int64_t tile = 0;   // the length of the tile
  int64_t chunk = 0;  // the length of a full chunk of the sequential loop over this index; the tile without one
  Extent owned;       // what the processor owns, inside or outside of the tile
  // For a given format that is cyclic: all runs that the processor owns, and the start of the tile; `owned` is unused.
  const std::vector<Run>* runs = nullptr;
  int64_t start = 0;
  // For an index that is dealt out: the runs that the processor computes with; `tile` is their total length. If the
  // format is free, the processor owns all of them.
  const std::vector<Run>* work = nullptr;
  bool owns_work = false;

  int64_t chunks() const { return tile == 0 ? 0 : ceil_div(tile, chunk); }

  // The elements that the processor owns, and those of them in its tile.
  int64_t piece() const {
    if (owns_work) return tile;
    return sum_over_runs([](const Extent& run) { return run.length(); });
  }
  int64_t owned_of_tile() const {
    if (owns_work) return tile;
    if (work != nullptr) return owned_of_work(false);
    return sum_over_runs([&](const Extent& run) {
      return Extent{std::max<int64_t>(0, run.lo), std::min(run.hi, tile)}.length();
    });
  }

  // The length of the longest chunk that the processor owns in one run (or, with false, does not); 0 if there is none.
  int64_t longest_chunk(bool is_owned) const {
    int64_t whole = tile / chunk, rest = tile % chunk;
    int64_t whole_owned = sum_over_runs([&](const Extent& run) {
      int64_t first = std::max<int64_t>(0, ceil_div(run.lo, chunk));
      return std::max<int64_t>(0, std::min(whole, floor_div(run.hi, chunk)) - first);
    });
    bool owns_rest = sum_over_runs([&](const Extent& run) {
                       return int64_t{run.lo <= whole * chunk && run.hi >= tile && run.length() > 0};
                     }) > 0;
    if (is_owned ? whole_owned > 0 : whole_owned < whole) return chunk;
    return is_owned == owns_rest ? rest : 0;
  }

  // How many elements of the runs that it computes with it owns. With `whole_runs`, only runs that it owns whole count.
  int64_t owned_of_work(bool whole_runs) const {
    if (owns_work) return tile;
    return sum_over_runs([&](const Extent& run) {
      int64_t sum = 0;
      auto first = std::partition_point(work->begin(), work->end(), [&](const Run& w) { return w.hi <= run.lo; });
      for (auto w = first; w != work->end() && w->lo < run.hi; ++w) {
        bool is_whole = run.lo <= w->lo && w->hi <= run.hi;
        if (is_whole || !whole_runs) sum += std::min(run.hi, w->hi) - std::max(run.lo, w->lo);
      }
      return sum;
    });
  }

  // Over what the processor owns.
  template <class F>
  int64_t sum_over_runs(F&& f) const {
    if (runs == nullptr) return f(owned);
    int64_t sum = 0;
    for (const Run& run : *runs) sum += f(Extent{run.lo - start, run.hi - start});
    return sum;
  }
};

}  // namespace distal::core
