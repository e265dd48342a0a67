#include "tune/grids.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "support/checked.h"

namespace distal::core {

namespace {

bool comes_before(const GroupGrid& a, const GroupGrid& b) {
  return std::tie(a.rank, b.processors, a.parts) < std::tie(b.rank, a.processors, b.parts);
}

}  // namespace

std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> small, large;
  for (int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d != n / d) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

bool fills(int64_t n, int64_t parts) { return parts <= n && ceil_div(n, ceil_div(n, parts)) == parts; }

Grids::Grids(const StatementShape& shape, int64_t most_processors) : shape_(shape) {
  for (size_t t = 0; t < shape.tensors.size(); ++t) {
    const ShapeTensor& tensor = shape.tensors[t];
    double bytes = static_cast<double>(tensor.element_bytes);
    for (size_t d = 0; d < tensor.indices.size(); ++d) {
      bytes *= static_cast<double>(shape.extent_of(static_cast<int>(t), static_cast<int>(d)));
    }
    bytes_.push_back(bytes);
    if (tensor.is_simple()) accesses_.push_back({t, bytes, {}});
    for (const ShapeAccess& access : tensor.accesses) {
      double touched = static_cast<double>(tensor.element_bytes);
      for (int index : access.indices) touched *= static_cast<double>(shape.extents[static_cast<size_t>(index)]);
      accesses_.push_back({t, touched, {}});
    }
  }
  std::map<std::vector<int64_t>, IndexGroup> by_accesses;
  for (size_t i = 0; i < shape.extents.size(); ++i) {
    IndexGroup& group = by_accesses[times_in_accesses(static_cast<int>(i))];
    group.indices.push_back(static_cast<int>(i));
    int64_t limit = most_processors / group.most_parts;
    group.most_parts = shape.extents[i] > limit ? most_processors : group.most_parts * shape.extents[i];
  }
  for (const auto& [times, group] : by_accesses) {
    groups_.push_back(group);
    for (size_t a = 0; a < accesses_.size(); ++a) accesses_[a].times.push_back(times[a]);
  }
  most_usable_ = 1;
  for (const IndexGroup& group : groups_) {
    most_usable_ =
        group.most_parts > most_processors / most_usable_ ? most_processors : most_usable_ * group.most_parts;
  }
}

std::vector<int64_t> Grids::times_in_accesses(int index) const {
  std::vector<int64_t> times;
  auto add = [&](const std::vector<int>& indices) {
    times.push_back(std::count(indices.begin(), indices.end(), index));
  };
  for (const ShapeTensor& tensor : shape_.tensors) {
    if (tensor.is_simple()) add(tensor.indices);
    for (const ShapeAccess& access : tensor.accesses) add(access.indices);
  }
  return times;
}

// On average, a processor exchanges its tiles except for the part that it owns, which is at most an average piece. All
// pieces of a free format together are one copy. If a tensor has several accesses, its tile is at least that of each.
GroupGrid Grids::grid_of(const std::vector<int64_t>& parts, int64_t processors) const {
  constexpr double kElementsOfAPiece = 4;  // with fewer for each processor that shares it, a tile may stay uncut
  GroupGrid grid{parts, processors};
  // Processors without work get replicas too.
  auto exchanging = static_cast<double>(shape_.has_replicas() ? shape_.processors : processors);
  for (size_t a = 0; a < accesses_.size();) {
    size_t t = accesses_[a].tensor;
    const ShapeTensor& tensor = shape_.tensors[t];
    double tiles = 0, sharing = 1;
    for (; a < accesses_.size() && accesses_[a].tensor == t; ++a) {
      double all = accesses_[a].bytes, shared = 1;
      for (size_t g = 0; g < parts.size(); ++g) {
        int64_t times = accesses_[a].times[g];
        if (times == 0) shared *= static_cast<double>(parts[g]);
        // If the index is repeated, a tile is cut in each of these dimensions.
        for (; times > 1; --times) all /= static_cast<double>(parts[g]);
      }
      tiles = std::max(tiles, all * shared);
      sharing = std::max(sharing, shared);
    }
    double owned = bytes_[t];
    if (tensor.given) {
      owned = tensor.given->average_elements * static_cast<double>(shape_.processors * tensor.element_bytes);
    }
    if (t == 0 && shape_.has_replicas()) {
      grid.least_bytes += std::max(0.0, owned - bytes_[t]) / exchanging;  // a copy to each further replica
      owned = bytes_[t];
    }
    grid.least_bytes += std::max(0.0, tiles - owned) / exchanging;
    double piece = bytes_[t] / static_cast<double>(processors * tensor.element_bytes);
    if (!tensor.given && piece >= kElementsOfAPiece) grid.messages += sharing - 1;
  }
  return grid;
}

template <class F>
void Grids::for_each_product(size_t group, int64_t product, int64_t fewest, int64_t most, std::vector<int64_t>& parts,
                             F& visit) const {
  if (group == groups_.size()) {
    if (product >= fewest) visit(parts, product);
    return;
  }
  bool is_last = group + 1 == groups_.size();
  int64_t last = std::min(groups_[group].most_parts, most / product);
  for (int64_t n = is_last ? std::max<int64_t>(1, ceil_div(fewest, product)) : 1; n <= last; ++n) {
    parts[group] = n;
    for_each_product(group + 1, product * n, fewest, most, parts, visit);
  }
}

std::vector<GroupGrid> Grids::by_group(int64_t fewest, int64_t most, const Rank& rank) const {
  std::vector<GroupGrid> grids;
  auto keep_best = [&](size_t count) {
    if (grids.size() <= count) return;
    auto end = grids.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(grids.begin(), end, grids.end(), comes_before);
    grids.erase(end, grids.end());
  };
  auto add = [&](const std::vector<int64_t>& parts, int64_t processors) {
    grids.push_back(grid_of(parts, processors));
    grids.back().rank = rank(grids.back());
    if (grids.size() >= 2 * kMostGroupGrids) keep_best(kMostGroupGrids);
  };
  std::vector<int64_t> parts(groups_.size(), 1);
  for_each_product(0, 1, fewest, most, parts, add);
  keep_best(kMostGroupGrids);
  std::sort(grids.begin(), grids.end(), comes_before);
  return grids;
}

void Grids::for_each(const GroupGrid& grid, const std::function<void(const std::vector<int64_t>&)>& visit) const {
  std::vector<int64_t> parts(shape_.extents.size(), 1);
  cut_group(grid, 0, 0, groups_.empty() ? 1 : grid.parts[0], parts, visit);
}

void Grids::cut_group(const GroupGrid& grid, size_t group, size_t next, int64_t left, std::vector<int64_t>& parts,
                      const std::function<void(const std::vector<int64_t>&)>& visit) const {
  if (group == groups_.size()) return visit(parts);
  const std::vector<int>& indices = groups_[group].indices;
  auto cut = [&](int64_t n) {
    int index = indices[next];
    if (!fills(shape_.extents[index], n)) return;
    parts[index] = n;
    if (next + 1 < indices.size()) return cut_group(grid, group, next + 1, left / n, parts, visit);
    cut_group(grid, group + 1, 0, group + 1 < groups_.size() ? grid.parts[group + 1] : 1, parts, visit);
  };
  if (next + 1 == indices.size()) return cut(left);
  // Of grids that cost the same the first is kept: one that cuts the first indices of the statement, which are mostly
  // outer dimensions of its tensors. So the kernel's innermost dimensions stay long.
  std::vector<int64_t> parts_of_next = divisors(left);
  std::for_each(parts_of_next.rbegin(), parts_of_next.rend(), cut);
}

}  // namespace distal::core
