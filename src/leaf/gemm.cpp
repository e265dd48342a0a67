#include "leaf/gemm.h"

#include <cblas.h>

#include <limits>

#include "leaf/nest.h"

namespace distal::core {

namespace {

// A matrix as a kernel sees it: an address and two strides, in elements.
template <class T>
struct Matrix {
  T* data;
  int64_t row, column;
};

constexpr int64_t kBlasMax = std::numeric_limits<int>::max();

bool fits(int64_t n) { return n <= kBlasMax; }

void blas(CBLAS_TRANSPOSE tb, CBLAS_TRANSPOSE tc, int m, int n, int k, const double* b, int ldb, const double* c,
          int ldc, double* a, int lda) {
  cblas_dgemm(CblasRowMajor, tb, tc, m, n, k, 1.0, b, ldb, c, ldc, 1.0, a, lda);
}
void blas(CBLAS_TRANSPOSE tb, CBLAS_TRANSPOSE tc, int m, int n, int k, const float* b, int ldb, const float* c, int ldc,
          float* a, int lda) {
  cblas_sgemm(CblasRowMajor, tb, tc, m, n, k, 1.0F, b, ldb, c, ldc, 1.0F, a, lda);
}
void blas(CBLAS_TRANSPOSE tb, CBLAS_TRANSPOSE tc, int m, int n, int k, const std::complex<double>* b, int ldb,
          const std::complex<double>* c, int ldc, std::complex<double>* a, int lda) {
  std::complex<double> one = 1;
  cblas_zgemm(CblasRowMajor, tb, tc, m, n, k, &one, b, ldb, c, ldc, &one, a, lda);
}
void blas(CBLAS_TRANSPOSE tb, CBLAS_TRANSPOSE tc, int m, int n, int k, const std::complex<float>* b, int ldb,
          const std::complex<float>* c, int ldc, std::complex<float>* a, int lda) {
  std::complex<float> one = 1;
  cblas_cgemm(CblasRowMajor, tb, tc, m, n, k, &one, b, ldb, c, ldc, &one, a, lda);
}

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

// How BLAS is to read an operand of `rows` x `columns`; transposed if its rows are the contiguous ones.
struct BlasOperand {
  bool possible = false;
  CBLAS_TRANSPOSE transpose = CblasNoTrans;
  int leading = 1;
};

template <class T>
BlasOperand blas_operand(const Matrix<T>& m, int64_t rows, int64_t columns) {
  // A dimension of one element has no stride that matters.
  bool by_rows = m.column == 1 || columns == 1;
  bool by_columns = m.row == 1 || rows == 1;
  int64_t row_step = rows == 1 ? columns : m.row;
  int64_t column_step = columns == 1 ? rows : m.column;
  if (by_rows && row_step >= columns && fits(row_step)) return {true, CblasNoTrans, static_cast<int>(row_step)};
  if (by_columns && column_step >= rows && fits(column_step)) return {true, CblasTrans, static_cast<int>(column_step)};
  return {};
}

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, const Matrix<T>& c) {
  if constexpr (!std::is_integral_v<T>) {
    BlasOperand out = blas_operand(a, m, n);
    if (out.possible && out.transpose == CblasTrans) {
      // A is stored by columns: compute its transpose, which is stored by rows, from the transposes of the operands.
      return gemm<T>(n, m, k, {a.data, a.column, a.row}, {c.data, c.column, c.row}, {b.data, b.column, b.row});
    }
    BlasOperand left = blas_operand(b, m, k);
    BlasOperand right = blas_operand(c, k, n);
    if (out.possible && left.possible && right.possible && fits(m) && fits(n) && fits(k)) {
      return blas(left.transpose, right.transpose, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
                  b.data, left.leading, c.data, right.leading, a.data, out.leading);
    }
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
  openblas_set_num_threads(1);  // the engine's threads are the parallelism
  return with_element_type(type, [&](auto zero) -> std::unique_ptr<LeafKernel> {
    return std::make_unique<GemmKernel<decltype(zero)>>(task);
  });
}

}  // namespace distal::core
