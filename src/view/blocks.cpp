#include "view/blocks.h"

#include <algorithm>

namespace distal::core {

namespace {

Ranges joined(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end());
  Ranges out;
  for (const Range& r : ranges) {
    if (!out.empty() && r.lo <= out.back().hi) {
      out.back().hi = std::max(out.back().hi, r.hi);
    } else {
      out.push_back(r);
    }
  }
  return out;
}

// The distinct ranges of the rectangles in one dimension, ascending. Empty if some of them overlap.
Ranges distinct(const std::vector<Rect>& rects, size_t dimension) {
  Ranges out;
  for (const Rect& r : rects) out.push_back({r.lo[dimension], r.hi[dimension]});
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  for (size_t i = 1; i < out.size(); ++i) {
    if (out[i].lo < out[i - 1].hi) return {};
  }
  return out;
}

std::vector<Ranges> as_product(const Rect& rect) {
  std::vector<Ranges> out;
  for (size_t d = 0; d < rect.dimensions(); ++d) out.push_back({{rect.lo[d], rect.hi[d]}});
  return out;
}

nlohmann::ordered_json quadruples(const Ranges& ranges) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (size_t i = 0; i < ranges.size();) {
    int64_t length = ranges[i].hi - ranges[i].lo;
    int64_t stride = i + 1 < ranges.size() ? ranges[i + 1].lo - ranges[i].lo : length;
    size_t end = i + 1;
    while (end < ranges.size() && ranges[end].hi - ranges[end].lo == length &&
           ranges[end].lo - ranges[end - 1].lo == stride) {
      ++end;
    }
    for (int64_t n : {ranges[i].lo, length, stride, static_cast<int64_t>(end - i)}) out.push_back(n);
    i = end;
  }
  return out;
}

// The keys of a table in the order of their numbers.
template <class Key>
std::vector<const Key*> by_number(const std::map<Key, int>& table) {
  std::vector<const Key*> out(table.size());
  for (const auto& [key, number] : table) out[static_cast<size_t>(number)] = &key;
  return out;
}

template <class Key>
int number_in(std::map<Key, int>& table, Key key) {
  return table.try_emplace(std::move(key), static_cast<int>(table.size())).first->second;
}

}  // namespace

int BlockTable::number_of(std::vector<Ranges> dimensions) {
  std::vector<int> lists;
  for (Ranges& ranges : dimensions) lists.push_back(number_in(lists_, joined(std::move(ranges))));
  return number_in(blocks_, std::move(lists));
}

int BlockTable::number_of(const HomePiece& piece) {
  std::vector<Ranges> dimensions;
  for (const std::vector<Run>* runs : piece.runs) {
    dimensions.emplace_back();
    for (const Run& run : *runs) dimensions.back().push_back({run.lo, run.hi});
  }
  return number_of(std::move(dimensions));
}

std::vector<int> BlockTable::numbers_of(const std::vector<Rect>& rects) {
  if (rects.empty()) return {};
  std::vector<Ranges> product;
  size_t parts = 1;
  for (size_t d = 0; d < rects[0].dimensions(); ++d) {
    product.push_back(distinct(rects, d));
    parts *= product.back().size();
  }
  if (parts == rects.size()) return {number_of(std::move(product))};
  std::vector<int> out;
  for (const Rect& r : rects) out.push_back(number_of(as_product(r)));
  return out;
}

void BlockTable::write_to(nlohmann::ordered_json& out) const {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array(), blocks = nlohmann::ordered_json::array();
  for (const Ranges* ranges : by_number(lists_)) runs.push_back(quadruples(*ranges));
  for (const std::vector<int>* lists : by_number(blocks_)) blocks.push_back(*lists);
  out["runs"] = std::move(runs);
  out["blocks"] = std::move(blocks);
}

}  // namespace distal::core
