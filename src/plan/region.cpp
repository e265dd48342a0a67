#include "plan/region.h"

#include <algorithm>

namespace distal::core {

namespace {

struct Range {
  int64_t lo, hi;
};

// Ranges that overlap or meet become one.
std::vector<Range> joined(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.lo < b.lo; });
  std::vector<Range> out;
  for (const Range& r : ranges) {
    if (!out.empty() && r.lo <= out.back().hi) {
      out.back().hi = std::max(out.back().hi, r.hi);
    } else {
      out.push_back(r);
    }
  }
  return out;
}

// The ranges of one index while some loops take all their values, one after the other.
class Ranges {
 public:
  Ranges(const StagePlan& stage, const AcquirePlan& acquire, int64_t place, const std::vector<int64_t>& values,
         int index)
      : stage_(stage), place_(place), index_(index), fixed_(acquire.is_fixed), values_(values) {
    std::vector<bool> from = recovered_from(stage.space.derivations, stage.space.size(), index);
    for (int v : acquire.blocks) {
      if (!from[v]) continue;
      loops_.push_back(v);
      fixed_[v] = true;
    }
  }

  std::vector<Range> all() {
    collect(0);
    return joined(std::move(found_));
  }

 private:
  void collect(size_t depth) {
    if (depth == loops_.size()) {
      if (!stage_.bounds_at(place_, fixed_, values_, intervals_)) return;
      found_.push_back({intervals_[index_].lo, intervals_[index_].hi});
      return;
    }
    for (int64_t x = 0; x < stage_.space.extents[loops_[depth]]; ++x) {
      values_[loops_[depth]] = x;
      collect(depth + 1);
    }
  }

  const StagePlan& stage_;
  int64_t place_;
  int index_;
  std::vector<bool> fixed_;
  std::vector<int64_t> values_;
  std::vector<int> loops_;
  std::vector<Interval<int64_t>> intervals_;
  std::vector<Range> found_;
};

void add_rects(const std::vector<std::vector<Range>>& ranges, Rect& rect, std::vector<Rect>& out) {
  size_t d = rect.dimensions();
  if (d == ranges.size()) {
    out.push_back(rect);
    return;
  }
  for (const Range& r : ranges[d]) {
    rect.lo.push_back(r.lo);
    rect.hi.push_back(r.hi);
    add_rects(ranges, rect, out);
    rect.lo.pop_back();
    rect.hi.pop_back();
  }
}

}  // namespace

Region add_region(const StagePlan& stage, const AcquirePlan& acquire, const std::vector<int>& access, int64_t place,
                  const std::vector<int64_t>& values, const std::vector<Interval<int64_t>>& intervals,
                  std::vector<Rect>& rects) {
  Region out{rects.size(), Coordinates(access.size(), 1)};
  if (acquire.blocks.empty()) {
    rects.push_back(rect_of(access, intervals));
    return out;
  }
  std::vector<std::vector<Range>> ranges;
  for (size_t d = 0; d < access.size(); ++d) {
    const Interval<int64_t>& around = intervals[access[d]];
    ranges.push_back(around.exact ? std::vector<Range>{} : Ranges(stage, acquire, place, values, access[d]).all());
    if (ranges.back().empty()) ranges.back().push_back({around.lo, around.hi});
    out.runs[d] = static_cast<int64_t>(ranges.back().size());
  }
  Rect rect;
  add_rects(ranges, rect, rects);
  return out;
}

size_t rect_at(const Region& region, const std::vector<Rect>& rects, const Coordinates& element) {
  size_t at = region.first, step = 1;
  for (size_t d = region.runs.size(); d-- > 0;) {
    auto begins_behind = [&](int64_t run) {
      return rects[region.first + static_cast<size_t>(run) * step].lo[d] > element[d];
    };
    int64_t low = 0, high = region.runs[d];  // the run sought is not before `low`, and before `high`
    while (high - low > 1) {
      int64_t middle = low + (high - low) / 2;
      (begins_behind(middle) ? high : low) = middle;
    }
    at += static_cast<size_t>(low) * step;
    step *= static_cast<size_t>(region.runs[d]);
  }
  return at;
}

}  // namespace distal::core
