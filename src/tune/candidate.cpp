#include "tune/candidate.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "support/checked.h"

namespace distal::core {

bool StatementShape::has_given_formats() const {
  return std::any_of(tensors.begin(), tensors.end(), [](const ShapeTensor& tensor) { return tensor.given != nullptr; });
}

int64_t Candidate::processors() const {
  int64_t product = 1;
  for (const GridLevel& level : levels) product *= level.parts;
  return product;
}

std::vector<Run> GridLevel::runs_of(int64_t coordinate, int64_t extent) const {
  std::vector<Run> runs;
  for (int64_t lo = coordinate * block; lo < extent; lo += parts * block) {
    runs.push_back({lo, std::min(extent, lo + block), static_cast<int64_t>(runs.size()) * block});
  }
  return runs;
}

bool Candidate::is_cyclic() const {
  return std::any_of(levels.begin(), levels.end(), [](const GridLevel& level) { return level.is_cyclic(); });
}

int Candidate::level_of(int index) const {
  auto cuts = [&](const GridLevel& level) { return level.index == index; };
  auto found = std::find_if(levels.begin(), levels.end(), cuts);
  return found == levels.end() ? -1 : static_cast<int>(found - levels.begin());
}

int tensor_in_blocks(const StatementShape& shape, const Candidate& candidate) {
  auto has_all = [&](const ShapeTensor& tensor) {
    return std::all_of(candidate.levels.begin(), candidate.levels.end(), [&](const GridLevel& level) {
      const std::vector<int>& indices = tensor.indices;
      return !level.is_cyclic() || std::find(indices.begin(), indices.end(), level.index) != indices.end();
    });
  };
  auto found = std::find_if(shape.tensors.begin(), shape.tensors.end(), has_all);
  return found == shape.tensors.end() ? -1 : static_cast<int>(found - shape.tensors.begin());
}

int64_t cyclic_shares(const StatementShape& shape, const Candidate& candidate, int tensor, int dimension) {
  int own_level = candidate.level_of(shape.tensors[tensor].indices[dimension]);
  int64_t shares = 1;
  for (int level = 0; level < own_level; ++level) {
    if (candidate.roles[tensor][level] == dimension) shares *= candidate.levels[level].parts;
  }
  return shares;
}

int64_t tile_multiple(const StatementShape& shape, const Candidate& candidate, const GridLevel& level) {
  int64_t multiple = 1;
  for (size_t t = 0; t < shape.tensors.size(); ++t) {
    const std::vector<int>& indices = shape.tensors[t].indices;
    auto own = std::find(indices.begin(), indices.end(), level.index);
    if (own == indices.end()) continue;
    int dimension = static_cast<int>(own - indices.begin());
    multiple = std::lcm(multiple, cyclic_shares(shape, candidate, static_cast<int>(t), dimension));
  }
  return multiple;
}

Candidate flattened(const StatementShape& shape, Candidate candidate) {
  for (const GridLevel& level : candidate.levels) {
    if (tile_multiple(shape, candidate, level) > 1) return candidate;
  }
  for (const LevelRoles& roles : candidate.roles) {
    std::set<int> dimensions;
    for (int role : roles) {
      if (role != kFace && !dimensions.insert(role).second) return candidate;
    }
  }
  for (GridLevel& level : candidate.levels) level.machine_level = 0;
  return candidate;
}

std::vector<Cut> cuts_of(const StatementShape& shape, const Candidate& candidate, int tensor, int dimension) {
  int index = shape.tensors[tensor].indices[dimension];
  int own_level = candidate.level_of(index);
  auto shares = [&](int level) { return level != own_level && candidate.roles[tensor][level] == dimension; };
  std::vector<Cut> cuts;
  int64_t extent = shape.extents[index];
  if (own_level >= 0) {
    extent = candidate.levels[own_level].tile;
    cuts.push_back({own_level, candidate.levels[own_level].parts, extent});
    for (int level = own_level - 1; level >= 0; --level) {
      if (!shares(level)) continue;
      extent /= candidate.levels[level].parts;
      cuts.push_back({level, candidate.levels[level].parts, extent});
    }
  }
  for (int level = own_level + 1; level < static_cast<int>(candidate.levels.size()); ++level) {
    if (!shares(level)) continue;
    extent = ceil_div(extent, candidate.levels[level].parts);
    cuts.push_back({level, candidate.levels[level].parts, extent});
  }
  return cuts;
}

}  // namespace distal::core
