#include "check/sample.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "support/checked.h"

namespace distal::core {

namespace {

int64_t coordinates_to_position(const std::vector<int64_t>& coordinates, const std::vector<int64_t>& shape) {
  int64_t position = 0;
  for (size_t d = 0; d < shape.size(); ++d) position = position * shape[d] + coordinates[d];
  return position;
}

void add_corners(const std::vector<int64_t>& shape, size_t max_samples, std::set<int64_t>& positions) {
  std::vector<int64_t> corner(shape.size(), 0);
  while (positions.size() < max_samples) {
    positions.insert(coordinates_to_position(corner, shape));
    size_t d = 0;
    // Steps to the next corner like a binary counter: each digit selects the first or the last coordinate.
    while (d < shape.size() && (corner[d] != 0 || shape[d] == 1)) corner[d++] = 0;
    if (d == shape.size()) return;
    corner[d] = shape[d] - 1;
  }
}

int64_t random_position_on_diagonal(const Access& output, const std::vector<int64_t>& shape, std::mt19937_64& random) {
  std::map<std::string, int64_t> values;
  std::vector<int64_t> coordinates;
  for (size_t d = 0; d < shape.size(); ++d) {
    auto [value, is_new] = values.try_emplace(output.indices[d].name, 0);
    if (is_new) value->second = static_cast<int64_t>(random() % static_cast<uint64_t>(shape[d]));
    coordinates.push_back(std::min(value->second, shape[d] - 1));  // shifted indices may repeat with other extents
  }
  return coordinates_to_position(coordinates, shape);
}

}  // namespace

void for_each_position(const Access& output, const std::vector<int64_t>& shape, int64_t max_samples, uint64_t seed,
                       const std::function<void(int64_t)>& visit) {
  int64_t elements = 1;
  for (int64_t extent : shape) elements = checked_mul(elements, extent);
  if (max_samples <= 0 || max_samples >= elements) {
    for (int64_t position = 0; position < elements; ++position) visit(position);
    return;
  }
  std::set<int64_t> positions;
  add_corners(shape, static_cast<size_t>(max_samples), positions);
  std::mt19937_64 random(seed);
  while (static_cast<int64_t>(positions.size()) < max_samples) {
    positions.insert(static_cast<int64_t>(random() % static_cast<uint64_t>(elements)));
    if (static_cast<int64_t>(positions.size()) < max_samples) {
      positions.insert(random_position_on_diagonal(output, shape, random));
    }
  }
  for (int64_t position : positions) visit(position);
}

void position_to_coordinates(int64_t position, const std::vector<int64_t>& shape, std::vector<int64_t>& coordinates) {
  coordinates.resize(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    coordinates[d] = position % shape[d];
    position /= shape[d];
  }
}

}  // namespace distal::core
