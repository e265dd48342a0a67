#include "leaf/gemm.h"

#include "leaf/blas.h"
#include "leaf/nest.h"

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

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c) {
  if constexpr (!std::is_integral_v<T>) {
    if (blas::multiply(m, n, k, a, b, c)) return;
  }
  plain_gemm(m, n, k, a, b, c);
}

template <class T>
class GemmKernel : public LeafKernel {
 public:
  explicit GemmKernel(const LeafTask& task)
      : space_(task.space), operands_(task.part->compute()->operands), shape_(*task.part->compute()->gemm) {
    outer_.assign(task.loops.begin(), task.loops.end() - 3);
    runs_.assign(static_cast<size_t>(space_.size()), false);
    for (auto v = task.loops.end() - 3; v != task.loops.end(); ++v) runs_[*v] = true;
  }

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
    auto length = [&](int v) { return intervals[v].hi - intervals[v].lo; };
    gemm<T>(length(shape_.rows), length(shape_.columns), length(shape_.sum),
            matrix(arguments, intervals, 0, shape_.rows, shape_.columns),
            matrix(arguments, intervals, shape_.left, shape_.rows, shape_.sum),
            matrix(arguments, intervals, shape_.right, shape_.sum, shape_.columns));
  }

  Matrix<T> matrix(const LeafArguments& arguments, const std::vector<Interval<int64_t>>& intervals, int operand,
                   int rows, int columns) const {
    const View& view = arguments.operands[operands_[operand].number];
    Matrix<T> m{reinterpret_cast<T*>(view.data) + view.offset, 0, 0};
    const std::vector<int>& indices = operands_[operand].indices;
    for (size_t d = 0; d < indices.size(); ++d) {
      m.data += intervals[indices[d]].lo * view.strides[d];
      if (indices[d] == rows) m.row = view.strides[d];
      if (indices[d] == columns) m.column = view.strides[d];
    }
    return m;
  }

  IterationSpace<int64_t> space_;
  std::vector<LeafOperand> operands_;
  GemmLeaf shape_;
  std::vector<int> outer_;
  std::vector<bool> runs_;
};

}  // namespace

std::unique_ptr<LeafKernel> make_gemm_leaf(const LeafTask& task, ElementType type) {
  if (!is_integer(type)) blas_library();  // loaded here: a task has nobody to tell that it is missing
  return with_element_type(type, [&](auto zero) -> std::unique_ptr<LeafKernel> {
    return std::make_unique<GemmKernel<decltype(zero)>>(task);
  });
}

}  // namespace distal::core
