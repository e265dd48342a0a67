#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tune/candidate.h"

namespace distal::core {

// Indices that stand in the same accesses, equally often. What a grid moves on average depends only on the numbers of
// processors that cut each group.
struct IndexGroup {
  std::vector<int> indices;
  int64_t most_parts = 1;  // no more processors have work along this group
};

// How many processors cut each group.
struct GroupGrid {
  std::vector<int64_t> parts;  // by group
  int64_t processors = 1;
  double least_bytes = 0;  // a lower bound on what the busiest processor exchanges
  double messages = 0;     // what every processor receives from those that share its tiles, if they all own a part
  double rank = 0;         // grids are ordered by it
};

// The grids of a statement. A grid gives every index a number of processors, all of which have work.
class Grids {
 public:
  Grids(const StatementShape& shape, int64_t most_processors);

  // The largest number of processors, up to the given one, that can all have work.
  int64_t most_usable() const { return most_usable_; }
  // All grids of `fewest` to `most` processors by group, those of the least rank first. Of very many, the first
  // kMostGroupGrids.
  using Rank = std::function<double(const GroupGrid&)>;
  std::vector<GroupGrid> by_group(int64_t fewest, int64_t most, const Rank& rank) const;
  // Calls `visit` with the parts of every index, for every way to cut the groups.
  void for_each(const GroupGrid& grid, const std::function<void(const std::vector<int64_t>&)>& visit) const;

  static constexpr size_t kMostGroupGrids = 200'000;

 private:
  template <class F>
  void for_each_product(size_t group, int64_t product, int64_t fewest, int64_t most, std::vector<int64_t>& parts,
                        F& visit) const;
  void cut_group(const GroupGrid& grid, size_t group, size_t next, int64_t left, std::vector<int64_t>& parts,
                 const std::function<void(const std::vector<int64_t>&)>& visit) const;
  std::vector<int64_t> times_in_accesses(int index) const;
  GroupGrid grid_of(const std::vector<int64_t>& parts, int64_t processors) const;

  const StatementShape& shape_;
  std::vector<IndexGroup> groups_;
  struct AccessOfGroups {
    size_t tensor = 0;
    double bytes = 0;            // of all its tiles together, if no processors share them
    std::vector<int64_t> times;  // by group: how often each of its indices stands in the access
  };
  std::vector<AccessOfGroups> accesses_;  // tensor by tensor
  std::vector<double> bytes_;             // by tensor
  int64_t most_usable_ = 1;
};

std::vector<int64_t> divisors(int64_t n);
// Whether n elements in blocks of ceil(n / parts) make exactly `parts` blocks.
bool fills(int64_t n, int64_t parts);

}  // namespace distal::core
