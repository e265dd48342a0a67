#include "check/sample.h"

#include <map>
#include <random>
#include <set>
#include <string>

#include "support/checked.h"

namespace distal::core {

namespace {

int64_t coordinates_to_place(const std::vector<int64_t>& coordinates, const std::vector<int64_t>& shape) {
  int64_t place = 0;
  for (size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + coordinates[d];
  return place;
}

void add_corners(const std::vector<int64_t>& shape, size_t max_samples, std::set<int64_t>& places) {
  std::vector<int64_t> corner(shape.size(), 0);
  while (places.size() < max_samples) {
    places.insert(coordinates_to_place(corner, shape));
    size_t d = 0;
    // Counts in base two, a digit being the first or the last coordinate.
    while (d < shape.size() && (corner[d] != 0 || shape[d] == 1)) corner[d++] = 0;
    if (d == shape.size()) return;
    corner[d] = shape[d] - 1;
  }
}

int64_t random_place_on_diagonal(const Access& output, const std::vector<int64_t>& shape, std::mt19937_64& random) {
  std::map<std::string, int64_t> values;
  std::vector<int64_t> coordinates;
  for (size_t d = 0; d < shape.size(); ++d) {
    auto [value, is_new] = values.try_emplace(output.indices[d].name, 0);
    if (is_new) value->second = static_cast<int64_t>(random() % static_cast<uint64_t>(shape[d]));
    coordinates.push_back(value->second);
  }
  return coordinates_to_place(coordinates, shape);
}

}  // namespace

void for_each_place(const Access& output, const std::vector<int64_t>& shape, int64_t max_samples, uint64_t seed,
                    const std::function<void(int64_t)>& visit) {
  int64_t elements = 1;
  for (int64_t extent : shape) elements = checked_mul(elements, extent);
  if (max_samples <= 0 || max_samples >= elements) {
    for (int64_t place = 0; place < elements; ++place) visit(place);
    return;
  }
  std::set<int64_t> places;
  add_corners(shape, static_cast<size_t>(max_samples), places);
  std::mt19937_64 random(seed);
  while (static_cast<int64_t>(places.size()) < max_samples) {
    places.insert(static_cast<int64_t>(random() % static_cast<uint64_t>(elements)));
    if (static_cast<int64_t>(places.size()) < max_samples) {
      places.insert(random_place_on_diagonal(output, shape, random));
    }
  }
  for (int64_t place : places) visit(place);
}

void place_to_coordinates(int64_t place, const std::vector<int64_t>& shape, std::vector<int64_t>& coordinates) {
  coordinates.resize(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    coordinates[d] = place % shape[d];
    place /= shape[d];
  }
}

}  // namespace distal::core
