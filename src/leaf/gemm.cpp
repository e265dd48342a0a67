#include "leaf/gemm.h"

#include <tuple>

#include "leaf/blas.h"
#include "leaf/blas_kernel.h"
#include "leaf/share.h"

namespace distal::core {

namespace {

template <class T>
void plain_gemm(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t x = 0; x < k; ++x) {
      T left = b.data[i * b.row + x * b.column];
      for (int64_t j = 0; j < n; ++j) {
        T& out = a.data[i * a.row + j * a.column];
        out = wrapping_add(out, wrapping_multiply(left, c.data[x * c.row + j * c.column]));
      }
    }
  }
}

// For what BLAS does not take: integers, and strides of which none is 1.
template <class T>
class PlainGemm : public BoxKernel {
 public:
  bool takes(const Box&) const override { return true; }
  void run(const Box& box, bool begin) const override {
    if (begin) clear_output(box, sizeof(T));
    const auto& [row, column, sum] = std::tie(box.axes[0], box.axes[1], box.axes[2]);
    auto matrix = [&](size_t o, const Axis& down, const Axis& along) {
      return Matrix<T>{reinterpret_cast<T*>(box.data[o]), down.steps[o], along.steps[o]};
    };
    plain_gemm(row.extent, column.extent, sum.extent, matrix(0, row, column), matrix(1, row, sum),
               matrix(2, sum, column));
  }
  std::string description() const override { return "plain loops"; }
  std::string explain(const Box&, const std::vector<std::string>&) const override { return description(); }
};

template <class T>
class GemmKernel : public LeafKernel {
 public:
  GemmKernel(const LeafTask& task, ElementType type, bool strict)
      : type_(type),
        strict_(strict),
        blas_(make_blas_kernel(task.part->compute()->terms[0], type, BlasUse::WherePossible)),
        space_(task.space),
        operands_(task.part->compute()->operands),
        shape_(*task.part->compute()->gemm) {
    if (blas_) blas_->prepare({});
    outer_.assign(task.loops.begin(), task.loops.end() - 3);
    runs_.assign(static_cast<size_t>(space_.size()), false);
    for (auto v = task.loops.end() - 3; v != task.loops.end(); ++v) runs_[*v] = true;
  }

  bool can_begin() const override { return outer_.empty(); }

  void run(const LeafArguments& arguments) const override {
    std::vector<int64_t> values = arguments.values;
    std::vector<Interval<int64_t>> intervals(values.size());
    loop(arguments, values, intervals, 0);
  }

  std::string description() const override {
    return std::is_integral_v<T> ? "gemm (plain loops: no BLAS for integers)" : "gemm (BLAS)";
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
      intervals[v] = runs_[v] ? Interval<int64_t>{0, space_.extents[v], true, false}
                              : Interval<int64_t>{values[v], values[v] + 1, true, true};
    }
    if (!bounds(space_, intervals)) return;
    Box box;
    for (int operand : {0, shape_.left, shape_.right}) add_operand(arguments, intervals, operand, box);
    for (int v : {shape_.rows, shape_.columns, shape_.sum}) {
      Axis axis{intervals[v].hi - intervals[v].lo, {}};
      for (int operand : {0, shape_.left, shape_.right}) axis.steps.push_back(step(arguments, operand, v));
      box.axes.push_back(std::move(axis));
    }
    const BoxKernel* kernel = blas_ && blas_->takes(box) ? blas_.get() : &plain_;
    share(*kernel, box, type_, arguments.begin, strict_ ? nullptr : arguments.team);
  }

  void add_operand(const LeafArguments& arguments, const std::vector<Interval<int64_t>>& intervals, int operand,
                   Box& box) const {
    const View& view = arguments.operands[operands_[operand].number];
    int64_t offset = view.offset;
    const std::vector<int>& indices = operands_[operand].indices;
    for (size_t d = 0; d < indices.size(); ++d) offset += intervals[indices[d]].lo * view.strides[d];
    box.data.push_back(view.data + offset * static_cast<int64_t>(sizeof(T)));
  }

  int64_t step(const LeafArguments& arguments, int operand, int v) const {
    const std::vector<int>& indices = operands_[operand].indices;
    for (size_t d = 0; d < indices.size(); ++d) {
      if (indices[d] == v) return arguments.operands[operands_[operand].number].strides[d];
    }
    return 0;
  }

  ElementType type_;
  bool strict_;
  std::unique_ptr<BoxKernel> blas_;  // null for integers
  PlainGemm<T> plain_;
  IterationSpace<int64_t> space_;
  std::vector<LeafOperand> operands_;
  GemmLeaf shape_;
  std::vector<int> outer_;
  std::vector<bool> runs_;
};

}  // namespace

std::unique_ptr<LeafKernel> make_gemm_leaf(const LeafTask& task, ElementType type, bool strict) {
  return with_element_type(type, [&](auto zero) -> std::unique_ptr<LeafKernel> {
    return std::make_unique<GemmKernel<decltype(zero)>>(task, type, strict);
  });
}

}  // namespace distal::core
