#pragma once

#include <absl/container/inlined_vector.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "leaf/leaf.h"

namespace distal::core {

// One index, or several that are as one: how many steps, and how far each goes in every operand, in elements. An
// operand that does not have the index stays where it is.
struct Axis {
  int64_t extent = 1;
  absl::InlinedVector<int64_t, 4> steps;  // by operand
};

// What a nest of loops does where their order does not matter: every combination of some indices, and for each an
// element of every operand. Operand 0 is the output; an axis along which it stands still is a sum.
struct Box {
  absl::InlinedVector<Axis, 6> axes;
  absl::InlinedVector<std::byte*, 4> data;  // by operand: its element at the beginning of all axes
  absl::InlinedVector<int64_t, 6> first{};  // where the indices begin, not just those of the axes
  int64_t sharers = 1;                      // threads that each have about as much of the same output

  bool is_sum(size_t axis) const { return axes[axis].steps[0] == 0; }
  bool has(size_t axis, size_t operand) const { return axes[axis].steps[operand] != 0; }
  bool has_sum() const;
  double points() const;
  double volume(size_t operand) const;  // distinct elements
};

// Drops axes of one step, and makes one of those that lie one inside the other in all operands.
void fuse(Box& box);

// The box without `taken`, all of the axes' combinations, outermost axis first: calls f with the operands' addresses.
template <class F>
void for_each(const absl::InlinedVector<Axis, 6>& axes, const absl::InlinedVector<std::byte*, 4>& data, int64_t bytes,
              const F& f, size_t depth = 0) {
  if (depth == axes.size()) return f(data);
  absl::InlinedVector<std::byte*, 4> at = data;
  for (int64_t x = 0; x < axes[depth].extent; ++x) {
    for_each(axes, at, bytes, f, depth + 1);
    for (size_t o = 0; o < at.size(); ++o) at[o] += axes[depth].steps[o] * bytes;
  }
}

// Sets the elements of the output to zero.
void clear_output(const Box& box, int64_t element_bytes);

// Why the order of a part's loops matters, or nothing: they then run over a box at any size and on every processor.
std::optional<std::string> why_no_box(const LeafTask& task);

// Terms of a part that contribute at the same iterations, and what they read.
struct BoxTerms {
  std::vector<LeafTerm> terms;    // first_operand counts among `operands`
  std::vector<int> operands;      // of the part; 0 is the output
  std::vector<int> only_at_zero;  // these indices stand at zero
};

// One term with its operands numbered from 1.
BoxTerms single_term(const LeafTerm& term);

// Finds the boxes of a part's terms when it runs.
class BoxFinder {
 public:
  BoxFinder(const LeafTask& task, ElementType type);

  // False where these terms have nothing to do.
  bool find(const LeafArguments& arguments, const BoxTerms& terms, Box& box) const;
  // Those of several runs, without such.
  std::vector<Box> find_all(std::span<const LeafArguments> runs, const BoxTerms& terms) const;

  // The box that the terms would most likely have: that of the first processor and step, operands stored by themselves.
  Box likely(const BoxTerms& terms) const;

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
