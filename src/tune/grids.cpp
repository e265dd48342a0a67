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

}  // namespace

bool fills(int64_t n, int64_t parts) { return parts <= n && ceil_div(n, ceil_div(n, parts)) == parts; }

Grids::Grids(const StatementShape& shape, int64_t most_processors) : shape_(shape) {
  std::map<std::vector<bool>, IndexGroup> by_tensors;
  for (size_t i = 0; i < shape.extents.size(); ++i) {
    std::vector<bool> stands_in;
    for (const ShapeTensor& tensor : shape.tensors) {
      stands_in.push_back(std::find(tensor.indices.begin(), tensor.indices.end(), static_cast<int>(i)) !=
                          tensor.indices.end());
    }
    IndexGroup& group = by_tensors[stands_in];
    group.indices.push_back(static_cast<int>(i));
    int64_t limit = most_processors / group.most_parts;
    group.most_parts = shape.extents[i] > limit ? most_processors : group.most_parts * shape.extents[i];
  }
  has_group_.resize(shape.tensors.size());
  for (const auto& [stands_in, group] : by_tensors) {
    groups_.push_back(group);
    for (size_t t = 0; t < shape.tensors.size(); ++t) has_group_[t].push_back(stands_in[t]);
  }
  for (const ShapeTensor& tensor : shape.tensors) {
    double bytes = static_cast<double>(tensor.element_bytes);
    for (int index : tensor.indices) bytes *= static_cast<double>(shape.extents[index]);
    bytes_.push_back(bytes);
  }
  most_usable_ = 1;
  for (const IndexGroup& group : groups_) {
    most_usable_ =
        group.most_parts > most_processors / most_usable_ ? most_processors : most_usable_ * group.most_parts;
  }
}

// On average, a processor exchanges its tiles except for the part that it owns, which is at most an average piece. All
// pieces of a free format together are one copy.
GroupGrid Grids::grid_of(const std::vector<int64_t>& parts, int64_t processors) const {
  constexpr double kElementsOfAPiece = 4;  // with fewer for each processor that shares it, a tile may stay uncut
  GroupGrid grid{parts, processors};
  for (size_t t = 0; t < bytes_.size(); ++t) {
    const ShapeTensor& tensor = shape_.tensors[t];
    double sharing = 1;
    for (size_t g = 0; g < parts.size(); ++g) {
      if (!has_group_[t][g]) sharing *= static_cast<double>(parts[g]);
    }
    double owned = bytes_[t];
    if (tensor.given) {
      owned = tensor.given->average_elements * static_cast<double>(shape_.processors * tensor.element_bytes);
    }
    grid.least_bytes += std::max(0.0, bytes_[t] * sharing - owned) / static_cast<double>(processors);
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
  for (int64_t n : divisors(left)) cut(n);
}

}  // namespace distal::core
