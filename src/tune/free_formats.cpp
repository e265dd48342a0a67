#include "tune/free_formats.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "support/checked.h"

namespace distal::core {

namespace {

// More ways than this to share a tile are not compared.
constexpr int kMostSharings = 1024;

class FormatFinder {
 public:
  FormatFinder(const StatementShape& shape, const std::vector<GridLevel>& levels) : shape_(shape) {
    candidate_.levels = levels;
    std::vector<int64_t> extents = shape.extents;  // what outer levels leave of each index
    for (GridLevel& level : candidate_.levels) {
      if (level.index == kNoIndex) continue;
      std::optional<int64_t> block = level.is_cyclic() ? std::optional(level.block) : std::nullopt;
      int64_t& extent = extents[static_cast<size_t>(level.index)];
      level.tile = extent = BlockCyclic(extent, level.parts, block).piece_extent(extent);
    }
    candidate_.roles.assign(shape.tensors.size(), LevelRoles(levels.size(), kFace));
  }

  Candidate find() {
    for (size_t t = 0; t < shape_.tensors.size(); ++t) {
      const ShapeTensor& tensor = shape_.tensors[t];
      if (tensor.given) continue;
      tensor.is_old_output ? share_as_output(t) : share(static_cast<int>(t));
    }
    align_tiles();
    return candidate_;
  }

 private:
  // How good a way to share a tile is: smaller is better.
  using Quality = std::tuple<double, int64_t, int64_t, LevelRoles>;

  void share_as_output(size_t tensor) { candidate_.roles[tensor] = candidate_.roles[0]; }

  void share(int tensor) {
    const std::vector<int>& indices = shape_.tensors[tensor].indices;
    LevelRoles& roles = candidate_.roles[tensor];
    std::vector<int> sharing;
    for (size_t l = 0; l < roles.size(); ++l) {
      auto own = std::find(indices.begin(), indices.end(), candidate_.levels[l].index);
      roles[l] = own == indices.end() ? kFace : static_cast<int>(own - indices.begin());
      bool can_share = own == indices.end() && candidate_.levels[l].index != kNoIndex;
      if (can_share && candidate_.levels[l].parts > 1) sharing.push_back(static_cast<int>(l));
    }
    if (sharing.empty()) return;
    Quality best{-1, 0, 0, {}};
    int tried = 0;
    try_all(tensor, sharing, 0, tried, best);
    roles = std::get<LevelRoles>(best);
  }

  void try_all(int tensor, const std::vector<int>& sharing, size_t next, int& tried, Quality& best) {
    if (tried >= kMostSharings) return;
    if (next == sharing.size()) {
      ++tried;
      Quality quality = quality_of(tensor);
      if (std::get<double>(best) < 0 || quality < best) best = std::move(quality);
      return;
    }
    int dimensions = static_cast<int>(shape_.tensors[tensor].indices.size());
    for (int d = 0; d <= dimensions; ++d) {
      int role = d < dimensions ? d : kFace;
      if (!is_free_for(tensor, sharing[next], role)) continue;
      candidate_.roles[tensor][sharing[next]] = role;
      try_all(tensor, sharing, next + 1, tried, best);
      candidate_.roles[tensor][sharing[next]] = kFace;
    }
  }

  // Whether this dimension of the tensor can be cut once more, and no other dimension of the same level of the machine
  // cuts it.
  bool is_free_for(int tensor, int level, int role) const {
    if (role == kFace) return true;
    if (!can_share(shape_, candidate_, tensor, level, role)) return false;
    for (int other = 0; other < static_cast<int>(candidate_.levels.size()); ++other) {
      bool same_level = candidate_.levels[other].machine_level == candidate_.levels[level].machine_level;
      if (other != level && same_level && candidate_.roles[tensor][other] == role) return false;
    }
    return true;
  }

  // The largest piece, enlarged by what cyclic cuts add to the tiles of the work; then the numbers of cyclic cuts and
  // of faces.
  Quality quality_of(int tensor) const {
    double piece = 1;
    int64_t cyclic = 0;
    for (size_t d = 0; d < shape_.tensors[tensor].indices.size(); ++d) {
      int index = shape_.tensors[tensor].indices[d];
      int64_t shares = cyclic_shares(shape_, candidate_, tensor, static_cast<int>(d));
      std::vector<Cut> cuts = cuts_of(shape_, candidate_, tensor, static_cast<int>(d));
      if (shares > 1) {
        double tile = static_cast<double>(candidate_.levels[candidate_.level_of(index)].tile);
        double blocks = static_cast<double>(ceil_div(static_cast<int64_t>(tile), shares));
        double rounded = blocks * static_cast<double>(shares);
        double finer = 1;  // the cuts inside of the cyclic ones
        for (const Cut& cut : cuts) {
          if (cut.level > candidate_.level_of(index)) finer *= static_cast<double>(cut.parts);
        }
        piece *= std::max(1.0, blocks / finer) * (rounded / tile) * (rounded / tile);
        ++cyclic;
      } else {
        int64_t extent = shape_.extent_of(tensor, static_cast<int>(d));
        piece *= static_cast<double>(cuts.empty() ? extent : cuts.back().stride);
      }
    }
    const LevelRoles& roles = candidate_.roles[tensor];
    return {piece, cyclic, std::count(roles.begin(), roles.end(), kFace), roles};
  }

  void align_tiles() {
    for (GridLevel& level : candidate_.levels) {
      int64_t multiple = tile_multiple(shape_, candidate_, level);
      level.tile = ceil_div(level.tile, multiple) * multiple;
    }
  }

  const StatementShape& shape_;
  Candidate candidate_;
};

}  // namespace

Candidate with_free_formats(const StatementShape& shape, const std::vector<GridLevel>& levels) {
  return FormatFinder(shape, levels).find();
}

std::vector<GridLevel> levels_of(const std::vector<int64_t>& parts) {
  std::vector<GridLevel> levels;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] > 1) levels.push_back({static_cast<int>(i), parts[i]});
  }
  std::stable_sort(levels.begin(), levels.end(), [](const auto& a, const auto& b) { return a.parts < b.parts; });
  for (size_t l = 0; l < levels.size(); ++l) levels[l].machine_level = static_cast<int>(l);
  return levels;
}

}  // namespace distal::core
