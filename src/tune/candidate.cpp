#include "tune/candidate.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "support/checked.h"

namespace distal::core {

bool ShapeTensor::has_index(int index) const {
  auto has = [&](const std::vector<int>& some) { return std::find(some.begin(), some.end(), index) != some.end(); };
  return is_simple() ? has(indices) : std::any_of(accesses.begin(), accesses.end(), [&](const ShapeAccess& access) {
    return has(access.indices);
  });
}

bool StatementShape::has_simple_accesses() const {
  return std::all_of(tensors.begin(), tensors.end(), [](const ShapeTensor& tensor) { return tensor.is_simple(); });
}

bool StatementShape::has_replicas() const {
  return tensors[0].given != nullptr && !tensors[0].given->first_replica.empty();
}

int64_t StatementShape::extent_of(int tensor, int dimension) const {
  const ShapeTensor& of = tensors[static_cast<size_t>(tensor)];
  auto d = static_cast<size_t>(dimension);
  return of.is_simple() ? extents[static_cast<size_t>(of.indices[d])] : of.extents[d];
}

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

int Candidate::innermost_level_of(int index) const {
  auto level = static_cast<int>(levels.size()) - 1;
  while (level >= 0 && levels[static_cast<size_t>(level)].index != index) --level;
  return level;
}

int64_t Candidate::tile_of(const StatementShape& shape, int index) const {
  int level = innermost_level_of(index);
  return level < 0 ? shape.extents[static_cast<size_t>(index)] : levels[static_cast<size_t>(level)].tile;
}

bool Candidate::deals_out(int index) const {
  int level = level_of(index);
  return level >= 0 && levels[static_cast<size_t>(level)].is_cyclic();
}

bool Candidate::is_nested() const {
  return std::any_of(levels.begin(), levels.end(), [&](const GridLevel& level) {
    return level.index != kNoIndex && level_of(level.index) != innermost_level_of(level.index);
  });
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

bool is_in_blocks(const StatementShape& shape, const Candidate& candidate, int tensor) {
  bool is_output = tensor == 0 || shape.tensors[static_cast<size_t>(tensor)].is_old_output;
  return is_output || tensor == tensor_in_blocks(shape, candidate);
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

std::vector<int> rotating_levels(const StatementShape& shape, const Candidate& candidate, int index) {
  std::vector<int> out;
  if (!shape.has_simple_accesses()) return out;
  for (size_t l = 0; l < candidate.levels.size(); ++l) {
    const GridLevel& level = candidate.levels[l];
    bool is_shared = std::any_of(shape.tensors.begin(), shape.tensors.end(), [&](const ShapeTensor& tensor) {
      return tensor.has_index(index) && !tensor.has_index(level.index);
    });
    if (level.index != kNoIndex && level.parts > 1 && is_shared) out.push_back(static_cast<int>(l));
  }
  return out;
}

bool can_share(const StatementShape& shape, const Candidate& candidate, int tensor, int level, int dimension) {
  if (dimension == kFace) return true;
  const ShapeTensor& of = shape.tensors[static_cast<size_t>(tensor)];
  int index = of.indices[static_cast<size_t>(dimension)];
  int outermost = candidate.level_of(index), innermost = candidate.innermost_level_of(index);
  if (outermost < 0) return true;
  bool may_be_cyclic = of.is_simple() && outermost == innermost;
  return !candidate.levels[static_cast<size_t>(outermost)].is_cyclic() && (may_be_cyclic || innermost < level);
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
  auto shares = [&](int level) {
    return candidate.levels[level].index != index && candidate.roles[tensor][level] == dimension;
  };
  std::vector<Cut> cuts;
  int64_t extent = shape.extent_of(tensor, dimension);
  // A dimension of which an access touches only a part has blocks of its own.
  bool has_tiles = own_level >= 0 && extent == shape.extents[index];
  for (int level = own_level; level >= 0 && level < static_cast<int>(candidate.levels.size()); ++level) {
    const GridLevel& own = candidate.levels[level];
    if (own.index != index) continue;
    extent = has_tiles ? own.tile : ceil_div(extent, own.parts);
    cuts.push_back({level, own.parts, extent});
  }
  if (cuts.size() == 1) {
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
