#include "view/work.h"

#include <algorithm>

namespace distal::core {

Work::Work(const StagePlan& stage) : stage_(stage) {
  for (const IndexVar& v : distal::core::variables(stage.stage->source.statement)) {
    variables_.push_back(find_variable(stage.stage->space, v.name));
  }
  leaf_.is_fixed = stage.leaf_is_fixed;
  for (const AcquirePlan& a : stage.acquires) {
    for (int v : a.blocks) {
      bool known = std::find(leaf_.blocks.begin(), leaf_.blocks.end(), v) != leaf_.blocks.end();
      if (!known && !leaf_.is_fixed[static_cast<size_t>(v)]) leaf_.blocks.push_back(v);
    }
  }
}

int Work::at(int64_t processor, const std::vector<int64_t>& values, BlockTable& blocks) {
  if (!stage_.bounds_at(processor, stage_.leaf_is_fixed, values, intervals_)) return -1;
  std::vector<Rect> rects;
  PlacedAccess points{variables_, Coordinates(variables_.size(), 0)};
  add_access_rects(stage_, leaf_, points, processor, values, intervals_, rects);
  return blocks.numbers_of(rects).at(0);
}

}  // namespace distal::core
