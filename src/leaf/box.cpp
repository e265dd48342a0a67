#include "leaf/box.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace distal::core {

namespace {

// Whether the loops of the part visit every combination of these indices' ranges, at any size and on every processor.
bool loops_run_over_box(const LeafTask& task, const std::vector<int>& indices) {
  const IterationSpace<IntExpr>& space = task.stage->stage->space;
  std::vector<Interval<IntExpr>> intervals;
  for (int v = 0; v < space.size(); ++v) {
    IntExpr name = IntExpr::name(space.names[v]);
    bool runs = std::find(task.loops.begin(), task.loops.end(), v) != task.loops.end();
    intervals.push_back(runs ? full(space.extents[v]) : point(name));
  }
  bounds(space, intervals);
  return std::all_of(indices.begin(), indices.end(), [&](int v) { return intervals[v].exact; });
}

std::vector<int> indices_of(const std::vector<LeafOperand>& operands) {
  std::vector<int> out;
  for (const LeafOperand& o : operands) {
    for (int v : o.indices) {
      if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
    }
  }
  return out;
}

// By position: where its value occurs first.
template <class All>
absl::InlinedVector<size_t, 4> first_positions(const All& all) {
  absl::InlinedVector<size_t, 4> out;
  for (const auto& x : all) out.push_back(static_cast<size_t>(std::find(all.begin(), all.end(), x) - all.begin()));
  return out;
}

int64_t largest_stride(const Axis& a) {
  int64_t out = 0;
  for (int64_t s : a.strides) out = std::max(out, std::abs(s));
  return out;
}

// Whether, in every operand, the inner axis ends where the next iteration of the outer one begins.
bool continues(const Axis& outer, const Axis& inner) {
  for (size_t o = 0; o < outer.strides.size(); ++o) {
    if (outer.strides[o] != inner.extent * inner.strides[o]) return false;
  }
  return true;
}

}  // namespace

bool BoxShape::has_sum() const {
  for (size_t a = 0; a < axes.size(); ++a) {
    if (is_sum(a)) return true;
  }
  return false;
}

double BoxShape::points() const {
  double out = 1;
  for (const Axis& a : axes) out *= static_cast<double>(a.extent);
  return out;
}

double BoxShape::volume(size_t operand) const {
  double out = 1;
  for (const Axis& a : axes) {
    if (a.strides[operand] != 0) out *= static_cast<double>(a.extent);
  }
  return out;
}

void Box::set_data(absl::InlinedVector<std::byte*, 4> addresses) {
  data = std::move(addresses);
  same_as = first_positions(data);
}

void fuse(BoxShape& box) {
  auto& axes = box.axes;
  axes.erase(std::remove_if(axes.begin(), axes.end(), [](const Axis& a) { return a.extent == 1; }), axes.end());
  std::sort(axes.begin(), axes.end(),
            [](const Axis& a, const Axis& b) { return largest_stride(a) > largest_stride(b); });
  for (size_t i = 0; i + 1 < axes.size();) {
    if (continues(axes[i], axes[i + 1])) {
      axes[i + 1].extent *= axes[i].extent;
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void clear_output(const Box& box, int64_t element_bytes) {
  absl::InlinedVector<Axis, 6> axes;
  int64_t line = 1;  // contiguous elements
  for (size_t a = 0; a < box.axes.size(); ++a) {
    if (box.is_sum(a)) continue;
    if (box.axes[a].strides[0] == 1 && line == 1) {
      line = box.axes[a].extent;
    } else {
      axes.push_back({box.axes[a].extent, {box.axes[a].strides[0]}});
    }
  }
  for_each(axes, {box.data[0]}, element_bytes,
           [&](const auto& at) { std::memset(at[0], 0, static_cast<size_t>(line * element_bytes)); });
}

std::optional<std::string> why_no_box(const LeafTask& task) {
  const Compute& compute = *task.part->compute();
  std::vector<int> indices = indices_of(compute.operands);
  for (const LeafTerm& t : compute.terms) {
    for (int v : t.only_at_zero) {
      if (std::find(indices.begin(), indices.end(), v) == indices.end()) {
        return fmt::format("a term contributes only where {} is 0", task.stage->space.names[v]);
      }
    }
  }
  if (!loops_run_over_box(task, indices)) return "its loops do not run over a box";
  return std::nullopt;
}

BoxTerms box_terms(const Compute& compute, const std::vector<int>& numbers) {
  BoxTerms out{{}, {0}, compute.terms[numbers[0]].only_at_zero};
  for (int n : numbers) {
    LeafTerm term = compute.terms[n];
    int operand = std::exchange(term.first_operand, static_cast<int>(out.operands.size()));
    for (size_t i = 0; i < accesses(term.expr).size(); ++i) out.operands.push_back(operand++);
    out.terms.push_back(std::move(term));
  }
  return out;
}

BoxFinder::BoxFinder(const LeafTask& task, ElementType type)
    : stage_(*task.stage),
      space_(task.space),
      operands_(task.part->compute()->operands),
      runs_(static_cast<size_t>(task.space.size()), false),
      indices_(indices_of(operands_)),
      element_bytes_(size_of(type)) {
  for (int v : task.loops) runs_[v] = true;
}

bool BoxFinder::find(const LeafArguments& arguments, const BoxTerms& terms, Box& box) const {
  thread_local std::vector<Interval<int64_t>> intervals;
  intervals.resize(arguments.values.size());
  for (size_t v = 0; v < intervals.size(); ++v) {
    intervals[v] = runs_[v] ? full(space_.extents[v]) : point(arguments.values[v]);
  }
  if (!bounds(space_, intervals)) return false;
  for (int v : terms.only_at_zero) {
    if (intervals[v].lo > 0) return false;
    intervals[v].hi = 1;
  }
  absl::InlinedVector<const View*, 4> views;
  for (int o : terms.operands) views.push_back(&arguments.operands[operands_[o].number]);
  add_axes(terms, intervals, views, box);
  return true;
}

std::vector<Box> BoxFinder::find_all(std::span<const LeafArguments> runs, const BoxTerms& terms) const {
  std::vector<Box> boxes;
  Box box;
  for (const LeafArguments& arguments : runs) {
    if (find(arguments, terms, box)) boxes.push_back(box);
  }
  return boxes;
}

void BoxFinder::add_axes(const BoxTerms& terms, const std::vector<Interval<int64_t>>& intervals,
                         const absl::InlinedVector<const View*, 4>& views, Box& box) const {
  box.axes.clear();
  box.first.clear();
  absl::InlinedVector<std::byte*, 4> data;
  for (const View* view : views) data.push_back(view->data + view->offset * element_bytes_);
  for (int v : indices_) {
    Axis axis{intervals[v].hi - intervals[v].lo, {}};
    box.first.push_back(intervals[v].lo);
    for (size_t o = 0; o < views.size(); ++o) {
      const std::vector<int>& of = operands_[terms.operands[o]].indices;
      int64_t stride = 0;
      for (size_t d = 0; d < of.size(); ++d) {
        if (of[d] == v) stride += views[o]->strides[d];
      }
      data[o] += intervals[v].lo * stride * element_bytes_;
      axis.strides.push_back(stride);
    }
    box.axes.push_back(std::move(axis));
  }
  box.set_data(std::move(data));
  fuse(box);
}

// The ranges of the variables at the first step, moved to 0: only their lengths matter.
std::vector<Interval<int64_t>> BoxFinder::first_intervals() const {
  std::vector<Interval<int64_t>> out(static_cast<size_t>(space_.size()));
  for (int v = 0; v < space_.size(); ++v) out[v] = runs_[v] ? full(space_.extents[v]) : point(int64_t{0});
  if (bounds(space_, out)) {
    for (Interval<int64_t>& i : out) i = full(i.hi - i.lo);
  } else {
    for (int v = 0; v < space_.size(); ++v) out[v] = full(space_.extents[v]);
  }
  return out;
}

BoxShape BoxFinder::likely(const BoxTerms& terms) const {
  const Leaf& leaf = leaf_of(*stage_.stage);
  std::vector<Interval<int64_t>> intervals = first_intervals();
  std::vector<View> views;
  std::vector<int64_t> tensors;
  for (int o : terms.operands) {
    const LeafOperand& operand = operands_[o];
    Coordinates extents;
    std::vector<int> order;
    for (size_t d = 0; d < operand.indices.size(); ++d) {
      extents.push_back(intervals[operand.indices[d]].hi);
      order.push_back(static_cast<int>(d));
    }
    int64_t tensor = -1 - operand.number;  // a workspace: a number that no tensor has
    if (operand.number < static_cast<int>(leaf.accesses.size())) {
      const AcquirePlan& acquire = stage_.acquires[leaf.accesses[operand.number].acquire];
      order = acquire.order;
      tensor = acquire.tensor;
    }
    tensors.push_back(tensor);
    views.push_back({nullptr, 0, dense_strides(extents, order)});
  }
  for (int v : terms.only_at_zero) intervals[v].hi = 1;
  absl::InlinedVector<const View*, 4> pointers;
  for (const View& v : views) pointers.push_back(&v);
  Box box;
  add_axes(terms, intervals, pointers, box);
  box.same_as = first_positions(tensors);
  return box;
}

}  // namespace distal::core
