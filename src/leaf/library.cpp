#include "leaf/library.h"

#include <fmt/format.h>

#include "leaf/blas_kernel.h"
#include "leaf/share.h"
#include "leaf/symmetric.h"

namespace distal::core {

namespace {

// The innermost of the plain loops.
template <class T>
void multiply_along(const Axis& axis, T* output, const T* left, const T* right) {
  for (int64_t x = 0; x < axis.extent; ++x) {
    T& out = output[x * axis.steps[0]];
    out = wrapping_add(out, wrapping_multiply(left[x * axis.steps[1]], right[x * axis.steps[2]]));
  }
}

// For what BLAS does not take: integers, and strides of which none is 1.
template <class T>
class PlainProduct : public BoxKernel {
 public:
  bool takes(const Box&) const override { return true; }
  void run(const Box& box, bool begin) const override {
    if (begin) clear_output(box, sizeof(T));
    absl::InlinedVector<Axis, 6> outer = box.axes;
    size_t at = innermost(box);
    outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(at));
    for_each(outer, box.data, sizeof(T), [&](const auto& data) {
      multiply_along(box.axes[at], reinterpret_cast<T*>(data[0]), reinterpret_cast<const T*>(data[1]),
                     reinterpret_cast<const T*>(data[2]));
    });
  }
  std::string description() const override { return "plain loops"; }
  std::string explain(const Box&, const std::vector<std::string>&) const override { return description(); }

 private:
  // The last axis of the output, so that one addition need not wait for the other; of a lone sum, that.
  static size_t innermost(const Box& box) {
    for (size_t a = box.axes.size(); a > 0; --a) {
      if (!box.is_sum(a - 1)) return a - 1;
    }
    return box.axes.size() - 1;
  }
};

template <class T>
class LibraryKernel : public LeafKernel {
 public:
  LibraryKernel(const LeafTask& task, ElementType type, bool strict)
      : type_(type),
        strict_(strict),
        symmetric_(make_symmetric_kernel(task.part->compute()->terms[0], type)),
        blas_(make_blas_kernel(task.part->compute()->terms[0], type, BlasUse::WherePossible)),
        space_(task.space),
        operands_(task.part->compute()->operands),
        library_(*task.part->compute()->library) {
    if (blas_) blas_->prepare({});
    auto first = task.loops.end() - static_cast<std::ptrdiff_t>(library_.indices.size());
    outer_.assign(task.loops.begin(), first);
    runs_.assign(static_cast<size_t>(space_.size()), false);
    for (auto v = first; v != task.loops.end(); ++v) runs_[*v] = true;
  }

  bool can_begin() const override { return outer_.empty(); }

  void run(const LeafArguments& arguments) const override {
    std::vector<int64_t> values = arguments.values;
    std::vector<Interval<int64_t>> intervals(values.size());
    loop(arguments, values, intervals, 0);
  }

  std::string description() const override {
    return library_.kernel + (std::is_integral_v<T> ? " (plain loops: no BLAS for integers)" : " (BLAS)");
  }

 private:
  void loop(const LeafArguments& arguments, std::vector<int64_t>& values, std::vector<Interval<int64_t>>& intervals,
            size_t depth) const {
    if (depth == outer_.size()) return multiply(arguments, values, intervals);
    for (int64_t x = 0; x < space_.extents[outer_[depth]]; ++x) {
      values[outer_[depth]] = x;
      loop(arguments, values, intervals, depth + 1);
    }
  }

  void multiply(const LeafArguments& arguments, const std::vector<int64_t>& values,
                std::vector<Interval<int64_t>>& intervals) const {
    for (size_t v = 0; v < values.size(); ++v) {
      intervals[v] = runs_[v] ? full(space_.extents[v]) : point(values[v]);
    }
    if (!bounds(space_, intervals)) return;
    Box box;
    for (const LeafOperand& o : operands_) box.data.push_back(begin_of(arguments, intervals, o));
    for (const LibraryIndex& i : library_.indices) {
      Axis axis{intervals[i.variable].hi - intervals[i.variable].lo, {}};
      for (const LeafOperand& o : operands_) axis.steps.push_back(step(arguments, o, i.variable));
      box.axes.push_back(std::move(axis));
    }
    const BoxKernel* kernel = &plain_;
    if (blas_ && blas_->takes(box)) kernel = blas_.get();
    if (library_.kernel == "syrk" && symmetric_ && symmetric_->takes(box)) kernel = symmetric_.get();
    share(*kernel, box, type_, arguments.begin, strict_ ? nullptr : arguments.team);
  }

  static std::byte* begin_of(const LeafArguments& arguments, const std::vector<Interval<int64_t>>& intervals,
                             const LeafOperand& operand) {
    const View& view = arguments.operands[operand.number];
    int64_t offset = view.offset;
    for (size_t d = 0; d < operand.indices.size(); ++d) offset += intervals[operand.indices[d]].lo * view.strides[d];
    return view.data + offset * static_cast<int64_t>(sizeof(T));
  }

  static int64_t step(const LeafArguments& arguments, const LeafOperand& operand, int v) {
    for (size_t d = 0; d < operand.indices.size(); ++d) {
      if (operand.indices[d] == v) return arguments.operands[operand.number].strides[d];
    }
    return 0;
  }

  ElementType type_;
  bool strict_;
  std::unique_ptr<BoxKernel> symmetric_, blas_;  // null for integers
  PlainProduct<T> plain_;
  IterationSpace<int64_t> space_;
  std::vector<LeafOperand> operands_;  // the output and the two factors
  LibraryLeaf library_;
  std::vector<int> outer_;
  std::vector<bool> runs_;
};

}  // namespace

std::unique_ptr<LeafKernel> make_library_leaf(const LeafTask& task, ElementType type, bool strict) {
  return with_element_type(type, [&](auto zero) -> std::unique_ptr<LeafKernel> {
    return std::make_unique<LibraryKernel<decltype(zero)>>(task, type, strict);
  });
}

std::string explain_library_leaf(const LibraryLeaf& library) {
  // The syrk of BLAS makes one triangle only, of a matrix whose rows and columns have the same range.
  const char* how = library.kernel == "syrk" ? ", half of it mirrored where both halves are at hand" : "";
  return fmt::format("{}, as substitute asks{}", library.kernel, how);
}

}  // namespace distal::core
