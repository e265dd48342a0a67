#pragma once

#include <cstdint>
#include <vector>

#include "tune/candidate.h"
#include "tune/dimension_view.h"

namespace distal::core {

// One processor of a candidate's machine: what it computes, and what it owns of one tensor.
class ProcessorView {
 public:
  ProcessorView(const StatementShape& shape, const Candidate& candidate);

  // Goes to a coordinate of a level. `find_work` follows.
  void go_to(size_t level, int64_t coordinate) { at_[level] = coordinate; }
  // Finds the part of every index that the processor computes. Returns the number of points.
  int64_t find_work();
  // Finds what the processor needs and owns of a tensor.
  void look_at(size_t tensor);
  // Calls `visit` for each step of the first `loops` sequential loops, with the work of this step alone.
  template <class F>
  void for_each_step(size_t loops, const F& visit) {
    visit_steps(0, loops, visit);
  }

  const StatementShape& shape() const { return shape_; }
  const Candidate& candidate() const { return candidate_; }
  int64_t processor() const;
  // By index.
  int64_t start(size_t index) const { return starts_[index]; }
  int64_t length(size_t index) const { return lengths_[index]; }
  int64_t chunk(size_t index) const { return chunks_[index]; }

  // Of the tensor that is looked at.
  size_t tensor_number() const { return number_; }
  const ShapeTensor& tensor() const { return shape_.tensors[number_]; }
  const std::vector<DimensionView>& dimensions() const { return views_; }
  const std::vector<Cut>& cuts(size_t dimension) const { return cuts_[number_][dimension]; }
  // Whether the processor is at all coordinates at which the tensor is held; a scalar has no other piece.
  bool owns_face() const { return owns_face_; }
  int64_t piece_volume() const;
  int64_t tile_volume() const;
  int64_t owned_of_tile() const;
  // The elements of the tile that this processor, or another one of the same processor of the outermost level, owns.
  int64_t owned_by_outer_processor() const;

  const std::vector<std::vector<std::vector<Cut>>>& all_cuts() const { return cuts_; }

 private:
  void find_owned();
  bool is_inner(size_t level) const { return candidate_.levels[level].machine_level > 0; }
  int64_t owned_by_outer_processor(size_t dimension, size_t cuts_done, Extent range) const;
  void find_given(const GivenPieces& given);

  template <class F>
  void visit_steps(size_t loop, size_t loops, const F& visit) {
    if (loop == loops) return visit();
    int index = candidate_.loops[loop].index;
    int64_t start = starts_[index], length = lengths_[index];
    for (int64_t at = 0; at < length; at += chunks_[index]) {
      starts_[index] = start + at;
      lengths_[index] = std::min(chunks_[index], length - at);
      visit_steps(loop + 1, loops, visit);
    }
    starts_[index] = start;
    lengths_[index] = length;
  }

  const StatementShape& shape_;
  const Candidate& candidate_;
  std::vector<std::vector<std::vector<Cut>>> cuts_;  // by tensor and dimension
  std::vector<int64_t> chunks_;                      // by index
  std::vector<std::vector<std::vector<Run>>> work_;  // by level that deals out its index, and coordinate
  std::vector<int64_t> at_;                          // by level
  std::vector<int64_t> lengths_, starts_;            // by index; one that is dealt out starts at 0

  size_t number_ = 0;
  std::vector<DimensionView> views_;
  bool owns_face_ = true;
};

}  // namespace distal::core
