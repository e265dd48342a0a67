#include "tune/processor_view.h"

#include <algorithm>

#include "support/checked.h"

namespace distal::core {

ProcessorView::ProcessorView(const StatementShape& shape, const Candidate& candidate)
    : shape_(shape), candidate_(candidate), chunks_(shape.extents), at_(candidate.levels.size(), 0) {
  for (size_t t = 0; t < shape.tensors.size(); ++t) {
    cuts_.emplace_back();
    for (size_t d = 0; d < shape.tensors[t].indices.size(); ++d) {
      cuts_.back().push_back(cuts_of(shape, candidate, static_cast<int>(t), static_cast<int>(d)));
    }
  }
  for (const GridLevel& level : candidate.levels) {
    if (level.index != kNoIndex) chunks_[level.index] = level.tile;
    work_.emplace_back();
    for (int64_t c = 0; level.is_cyclic() && c < level.parts; ++c) {
      work_.back().push_back(level.runs_of(c, shape.extents[level.index]));
    }
  }
  for (const SequentialLoop& loop : candidate.loops) chunks_[loop.index] = ceil_div(chunks_[loop.index], loop.parts);
}

int64_t ProcessorView::find_work() {
  lengths_ = shape_.extents;
  starts_.assign(lengths_.size(), 0);
  for (size_t l = 0; l < at_.size(); ++l) {
    const GridLevel& level = candidate_.levels[l];
    if (level.index == kNoIndex && at_[l] > 0) return 0;
    if (level.index == kNoIndex) continue;
    int64_t& length = lengths_[level.index];
    if (level.is_cyclic()) {
      const std::vector<Run>& runs = work_[l][at_[l]];
      length = runs.empty() ? 0 : runs.back().local + runs.back().hi - runs.back().lo;
      continue;
    }
    int64_t offset = at_[l] * level.tile;
    length = std::clamp<int64_t>(length - offset, 0, level.tile);
    starts_[level.index] += offset;
  }
  int64_t points = 1;
  for (int64_t length : lengths_) points *= length;
  return points;
}

void ProcessorView::look_at(size_t tensor) {
  number_ = tensor;
  views_.clear();
  // Of what is counted by rectangles, views begin where the tensor begins.
  bool has_rects = !this->tensor().is_simple() || (tensor == 0 && shape_.has_replicas());
  if (has_rects) views_.resize(this->tensor().indices.size());
  for (int index : this->tensor().indices) {
    if (has_rects) break;
    int own_level = candidate_.level_of(index);
    views_.push_back({lengths_[index], chunks_[index], {}, nullptr, starts_[index]});
    bool is_cyclic = own_level >= 0 && candidate_.levels[own_level].is_cyclic();
    if (is_cyclic) views_.back().work = &work_[own_level][at_[own_level]];
  }
  this->tensor().given ? find_given(*this->tensor().given) : find_owned();
}

void ProcessorView::find_owned() {
  owns_face_ = true;
  for (size_t l = 0; l < at_.size(); ++l) {
    if (candidate_.roles[number_][l] == kFace && at_[l] != 0) owns_face_ = false;
  }
  for (size_t d = 0; d < views_.size(); ++d) {
    views_[d].owns_work = views_[d].work != nullptr;
    if (views_[d].owns_work) continue;
    Extent owned{0, shape_.extent_of(static_cast<int>(number_), static_cast<int>(d))};
    for (const Cut& cut : cuts(d)) {
      owned.lo += at_[cut.level] * cut.stride;
      owned.hi = std::min(owned.hi, owned.lo + cut.stride);
    }
    if (owned.length() > 0) views_[d].owned = {owned.lo - views_[d].start, owned.hi - views_[d].start};
  }
}

void ProcessorView::find_given(const GivenPieces& given) {
  auto at = static_cast<size_t>(processor());
  owns_face_ = given.owns_scalar[at];
  for (size_t d = 0; d < views_.size(); ++d) {
    const std::vector<Run>& runs = given.runs[at][d];
    if (runs.size() == 1) views_[d].owned = {runs[0].lo - views_[d].start, runs[0].hi - views_[d].start};
    if (runs.size() > 1) views_[d].runs = &runs;
  }
}

int64_t ProcessorView::owned_by_outer_processor() const {
  int64_t owned = 1;
  for (size_t l = 0; l < at_.size(); ++l) {
    if (candidate_.roles[number_][l] == kFace && at_[l] != 0 && !is_inner(l)) owned = 0;
  }
  for (size_t d = 0; d < views_.size() && owned > 0; ++d) {
    owned *= owned_by_outer_processor(d, 0, {0, shape_.extent_of(static_cast<int>(number_), static_cast<int>(d))});
  }
  return owned;
}

// Of a range that the first cuts leave. Along a cut by an inner level that is not of the work, the inner processors own
// all parts together.
int64_t ProcessorView::owned_by_outer_processor(size_t dimension, size_t cuts_done, Extent range) const {
  const DimensionView& view = views_[dimension];
  if (cuts_done == cuts(dimension).size()) {
    return Extent{std::max(range.lo, view.start), std::min(range.hi, view.start + view.tile)}.length();
  }
  const Cut& cut = cuts(dimension)[cuts_done];
  bool is_of_work = candidate_.levels[cut.level].index == tensor().indices[dimension];
  bool takes_all = is_inner(static_cast<size_t>(cut.level)) && !is_of_work;
  int64_t sum = 0;
  for (int64_t c = takes_all ? 0 : at_[cut.level]; c < (takes_all ? cut.parts : at_[cut.level] + 1); ++c) {
    int64_t lo = range.lo + c * cut.stride;
    if (lo >= range.hi) break;
    sum += owned_by_outer_processor(dimension, cuts_done + 1, {lo, std::min(range.hi, lo + cut.stride)});
  }
  return sum;
}

int64_t ProcessorView::processor() const {
  int64_t number = 0;
  for (size_t l = 0; l < at_.size(); ++l) number = number * candidate_.levels[l].parts + at_[l];
  return number;
}

int64_t ProcessorView::piece_volume() const {
  int64_t volume = owns_face_ ? 1 : 0;
  for (const DimensionView& d : views_) volume *= d.piece();
  return volume;
}

int64_t ProcessorView::tile_volume() const {
  int64_t volume = 1;
  for (const DimensionView& d : views_) volume *= d.tile;
  return volume;
}

int64_t ProcessorView::owned_of_tile() const {
  int64_t owned = owns_face_ ? 1 : 0;
  for (const DimensionView& d : views_) owned *= d.owned_of_tile();
  return owned;
}

}  // namespace distal::core
