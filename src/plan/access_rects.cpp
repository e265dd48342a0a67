#include "plan/access_rects.h"

#include <algorithm>

namespace distal::core {

namespace {

struct IndexRange {
  int64_t lo, hi;
};

// Joins ranges that overlap or touch.
std::vector<IndexRange> joined(std::vector<IndexRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const IndexRange& a, const IndexRange& b) { return a.lo < b.lo; });
  std::vector<IndexRange> out;
  for (const IndexRange& r : ranges) {
    if (!out.empty() && r.lo <= out.back().hi) {
      out.back().hi = std::max(out.back().hi, r.hi);
    } else {
      out.push_back(r);
    }
  }
  return out;
}

// Collects the ranges that one index takes while the loops of `blocks` run through all their values.
class RangeCollector {
 public:
  RangeCollector(const StagePlan& stage, const AcquirePlan& acquire, int64_t place, const std::vector<int64_t>& values,
                 int index)
      : stage_(stage), place_(place), index_(index), fixed_(acquire.is_fixed), values_(values) {
    std::vector<bool> from = recovered_from(stage.space.derivations, stage.space.size(), index);
    for (int v : acquire.blocks) {
      if (!from[v]) continue;
      loops_.push_back(v);
      fixed_[v] = true;
    }
  }

  std::vector<IndexRange> all() {
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
  std::vector<IndexRange> found_;
};

void add_rects(const std::vector<std::vector<IndexRange>>& ranges, Rect& rect, std::vector<Rect>& out) {
  size_t d = rect.dimensions();
  if (d == ranges.size()) {
    out.push_back(rect);
    return;
  }
  for (const IndexRange& r : ranges[d]) {
    rect.lo.push_back(r.lo);
    rect.hi.push_back(r.hi);
    add_rects(ranges, rect, out);
    rect.lo.pop_back();
    rect.hi.pop_back();
  }
}

// Visits the dimensions of an access's rectangles, the last one first.
class DimensionCursor {
 public:
  DimensionCursor(const AccessRects& access, const std::vector<Rect>& rects)
      : access_(access), rects_(rects), left_(access.counts.size()) {}

  bool valid() const { return left_ > 0; }
  size_t dimension() const { return left_ - 1; }
  size_t step() const { return step_; }  // the distance in `rects` from one run of this dimension to the next
  void next() {
    step_ *= static_cast<size_t>(access_.counts[dimension()]);
    --left_;
  }

  // The last run that begins at or before the coordinate, or run 0 if none does.
  size_t last_run_at(int64_t coordinate) const {
    size_t low = 0, high = static_cast<size_t>(access_.counts[dimension()]);
    while (high - low > 1) {
      size_t middle = low + (high - low) / 2;
      bool begins_behind = rects_[access_.first + middle * step_].lo[dimension()] > coordinate;
      (begins_behind ? high : low) = middle;
    }
    return low;
  }

 private:
  const AccessRects& access_;
  const std::vector<Rect>& rects_;
  size_t left_;
  size_t step_ = 1;
};

// Whether an acquire needs the same rectangles under two lists of blocks, at every step and place.
class SameRects {
 public:
  SameRects(const StagePlan& stage, const AcquirePlan& one, const AcquirePlan& other)
      : stage_(stage),
        one_(one),
        other_(other),
        places_(stage.places(one.acquire->place_levels)),
        values_(static_cast<size_t>(stage.space.size()), 0) {
    for (int v : one.acquire->fixed) {
      if (stage.machine_dimension[v] < 0) loops_.push_back(v);
    }
  }

  bool always() {
    double steps = static_cast<double>(places_.size());
    for (int v : loops_) steps *= static_cast<double>(stage_.space.extents[v]);
    return steps <= static_cast<double>(kMaxSteps) && same_from(0);
  }

 private:
  bool same_from(size_t depth) {
    if (depth == loops_.size())
      return std::all_of(places_.begin(), places_.end(), [&](int64_t p) { return same_at(p); });
    for (int64_t x = 0; x < stage_.space.extents[loops_[depth]]; ++x) {
      values_[loops_[depth]] = x;
      if (!same_from(depth + 1)) return false;
    }
    return true;
  }

  bool same_at(int64_t place) {
    if (!stage_.bounds_at(place, one_.is_fixed, values_, intervals_)) return true;
    for (const PlacedAccess& access : one_.accesses) {
      std::vector<Rect> with, without;
      add_access_rects(stage_, one_, access, place, values_, intervals_, with);
      add_access_rects(stage_, other_, access, place, values_, intervals_, without);
      if (with != without) return false;
    }
    return true;
  }

  const StagePlan& stage_;
  const AcquirePlan &one_, &other_;
  std::vector<int64_t> places_, values_;
  std::vector<int> loops_;
  std::vector<Interval<int64_t>> intervals_;
};

}  // namespace

AccessRects add_access_rects(const StagePlan& stage, const AcquirePlan& acquire, const PlacedAccess& access,
                             int64_t place, const std::vector<int64_t>& values,
                             const std::vector<Interval<int64_t>>& intervals, std::vector<Rect>& rects) {
  AccessRects out{rects.size(), Coordinates(access.variables.size(), 1)};
  if (acquire.blocks.empty()) {
    rects.push_back(rect_of(access, intervals));
    return out;
  }
  std::vector<std::vector<IndexRange>> ranges;
  for (size_t d = 0; d < access.variables.size(); ++d) {
    const Interval<int64_t>& around = intervals[access.variables[d]];
    ranges.push_back(around.exact ? std::vector<IndexRange>{}
                                  : RangeCollector(stage, acquire, place, values, access.variables[d]).all());
    if (ranges.back().empty()) ranges.back().push_back({around.lo, around.hi});
    for (IndexRange& r : ranges.back()) r = {r.lo + access.offsets[d], r.hi + access.offsets[d]};
    out.counts[d] = static_cast<int64_t>(ranges.back().size());
  }
  Rect rect;
  add_rects(ranges, rect, rects);
  return out;
}

size_t rect_at(const AccessRects& access, const std::vector<Rect>& rects, const Coordinates& element) {
  size_t at = access.first;
  for (DimensionCursor d(access, rects); d.valid(); d.next()) at += d.last_run_at(element[d.dimension()]) * d.step();
  return at;
}

std::vector<size_t> overlapping(const AccessRects& access, const std::vector<Rect>& rects, const Rect& other) {
  std::vector<size_t> out{access.first};
  for (DimensionCursor d(access, rects); d.valid(); d.next()) {
    std::vector<size_t> inner = std::move(out);
    out.clear();
    size_t last = d.last_run_at(other.hi[d.dimension()] - 1);
    for (size_t run = d.last_run_at(other.lo[d.dimension()]); run <= last; ++run) {
      const Rect& r = rects[access.first + run * d.step()];
      if (r.lo[d.dimension()] >= other.hi[d.dimension()] || r.hi[d.dimension()] <= other.lo[d.dimension()]) continue;
      for (size_t at : inner) out.push_back(at + run * d.step());
    }
  }
  return out;
}

void drop_blocks_without_holes(StagePlan& stage) {
  for (AcquirePlan& a : stage.acquires) {
    for (size_t b = a.blocks.size(); b-- > 0;) {
      AcquirePlan fewer = a;
      fewer.blocks.erase(fewer.blocks.begin() + static_cast<std::ptrdiff_t>(b));
      if (SameRects(stage, a, fewer).always()) a.blocks = std::move(fewer.blocks);
    }
  }
}

}  // namespace distal::core
