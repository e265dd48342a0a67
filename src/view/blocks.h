#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "plan/ownership.h"
#include "plan/rect.h"

namespace distal::core {

// Coordinates lo <= x < hi of one dimension.
struct Range {
  int64_t lo = 0;
  int64_t hi = 0;
  auto operator<=>(const Range&) const = default;
};
using Ranges = std::vector<Range>;

// Sets of elements. Each is written once, and processors and steps refer to it by its number. A block is the product
// of one list of ranges for each dimension.
class BlockTable {
 public:
  // The number of the block that is the product of these lists. Ranges that touch are joined.
  int number_of(std::vector<Ranges> dimensions);
  int number_of(const HomePiece& piece);
  // The blocks that together make up these disjoint rectangles: a single block if the rectangles are a product.
  std::vector<int> numbers_of(const std::vector<Rect>& rects);

  // Adds the members "runs" and "blocks". A list of ranges is written as quadruples (lo, length, stride, count).
  void write_to(nlohmann::ordered_json& out) const;

 private:
  std::map<Ranges, int> lists_;
  std::map<std::vector<int>, int> blocks_;
};

}  // namespace distal::core
