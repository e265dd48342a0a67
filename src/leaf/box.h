#pragma once

#include <absl/container/inlined_vector.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "leaf/leaf.h"

namespace distal::core {

// An index of a box, or several fused indices. An operand that does not have the index has stride 0.
struct Axis {
  int64_t extent = 1;
  absl::InlinedVector<int64_t, 4> strides;  // by operand, in elements
  bool operator==(const Axis&) const = default;
};

// A nest of loops whose order does not matter: it visits every combination of some indices, and at each one element of
// every operand. Operand 0 is the output. An axis along which the output has stride 0 is a sum. Kernels are chosen by
// the shape alone.
struct BoxShape {
  absl::InlinedVector<Axis, 6> axes;
  absl::InlinedVector<size_t, 4> same_as;  // by operand: the first operand that begins at the same element
  int64_t sharers = 1;                     // threads that the output is divided among

  bool operator==(const BoxShape&) const = default;
  size_t operands() const { return same_as.size(); }
  bool is_sum(size_t axis) const { return axes[axis].strides[0] == 0; }
  bool has(size_t axis, size_t operand) const { return axes[axis].strides[operand] != 0; }
  bool has_sum() const;
  double points() const;
  double volume(size_t operand) const;  // distinct elements of the operand
};

// A box in memory.
struct Box : BoxShape {
  absl::InlinedVector<std::byte*, 4> data;  // by operand: the element at index 0 of all axes
  absl::InlinedVector<int64_t, 6> first;    // the first value of each index, before axes are fused

  void set_data(absl::InlinedVector<std::byte*, 4> addresses);  // also sets same_as
};

// Drops axes of extent 1, and fuses two axes if one continues the other in all operands.
void fuse(BoxShape& box);

// Calls f with the addresses of the operands for every combination of the axes. The first axis is the outermost loop.
template <class F>
void for_each(const absl::InlinedVector<Axis, 6>& axes, const absl::InlinedVector<std::byte*, 4>& data, int64_t bytes,
              const F& f, size_t depth = 0) {
  if (depth == axes.size()) return f(data);
  absl::InlinedVector<std::byte*, 4> at = data;
  for (int64_t x = 0; x < axes[depth].extent; ++x) {
    for_each(axes, at, bytes, f, depth + 1);
    for (size_t o = 0; o < at.size(); ++o) at[o] += axes[depth].strides[o] * bytes;
  }
}

// Sets the elements of the output to zero.
void clear_output(const Box& box, int64_t element_bytes);

// Why the loops of a part do not run over a box; nothing if they do, at any size and on every processor.
std::optional<std::string> why_no_box(const LeafTask& task);

// Terms of a part that contribute at the same iterations, and the operands that they read.
struct BoxTerms {
  std::vector<LeafTerm> terms;    // their first_operand is a position in `operands`
  std::vector<int> operands;      // operands of the part; the first is the output
  std::vector<int> only_at_zero;  // the terms contribute only where these indices are 0
};

// Some terms of a part, by their numbers.
BoxTerms box_terms(const Compute& compute, const std::vector<int>& numbers);

// Finds the boxes of a part's terms when it runs.
class BoxFinder {
 public:
  BoxFinder(const LeafTask& task, ElementType type);

  // Finds the box of one run. Returns false if these terms have nothing to do.
  bool find(const LeafArguments& arguments, const BoxTerms& terms, Box& box) const;
  // The boxes of several runs, without the runs that have nothing to do.
  std::vector<Box> find_all(std::span<const LeafArguments> runs, const BoxTerms& terms) const;

  // The shape that the terms most likely have: on the first processor, at the first step, with every operand dense.
  BoxShape likely(const BoxTerms& terms) const;

 private:
  std::vector<Interval<int64_t>> first_intervals() const;
  void add_axes(const BoxTerms& terms, const std::vector<Interval<int64_t>>& intervals,
                const absl::InlinedVector<const View*, 4>& views, Box& box) const;

  const StagePlan& stage_;
  IterationSpace<int64_t> space_;
  std::vector<LeafOperand> operands_;
  std::vector<bool> runs_;
  std::vector<int> indices_;  // of all operands
  int64_t element_bytes_;
};

}  // namespace distal::core
