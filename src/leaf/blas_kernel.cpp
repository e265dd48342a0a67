#include "leaf/blas_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "leaf/blas.h"
#include "leaf/blas_form.h"
#include "leaf/blas_library.h"
#include "leaf/blas_shape.h"
#include "leaf/product.h"

namespace distal::core {

namespace {

// If an extent of a matrix is below this, register blocks are faster: BLAS is not made for thin matrices.
constexpr int64_t kThinExtent = 192;
// Up to this many columns register blocks are not slower, and mostly faster, because they pack one operand only. This
// needs the same storage order in all three matrices, and at least half as many rows as columns.
constexpr int64_t kSmallColumns = 2048;

// One BLAS call, and the loops around it.
struct BlasCall {
  BlasAxis row, column, sum;
  BlasAxes loops;
  double work() const {
    return static_cast<double>(row.extent) * static_cast<double>(column.extent) * static_cast<double>(sum.extent);
  }
};

template <class T>
bool is_possible(const BlasCall& c) {
  for (const BlasAxis* s : {&c.row, &c.column, &c.sum}) {
    if (!blas::fits_int(std::max({s->extent, s->output, s->left, s->right}))) return false;
    if (std::min({s->output, s->left, s->right}) < 0) return false;
  }
  auto is_matrix = [](int64_t row, int64_t column, int64_t rows, int64_t columns) {
    return blas::operand(Matrix<T>{nullptr, row, column}, rows, columns).possible;
  };
  bool output = is_matrix(c.row.output, c.column.output, c.row.extent, c.column.extent);
  bool left = is_matrix(c.row.left, c.sum.left, c.row.extent, c.sum.extent);
  bool right = is_matrix(c.sum.right, c.column.right, c.sum.extent, c.column.extent);
  // BLAS takes vectors with any stride, so only the matrices of a call are tested.
  if (c.row.extent == 1 && c.column.extent == 1) return true;
  if (c.column.extent == 1) return left;
  if (c.row.extent == 1) return right;
  if (c.sum.extent == 1) return output;
  return output && left && right;
}

void add_others(BlasAxes& loops, const BlasAxes& axes, size_t taken) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i != taken) loops.push_back(axes[i]);
  }
}

// The possible BLAS call with the most work. The axes that it does not use become loops around it.
template <class T>
std::optional<BlasCall> best_call(const BlasShape& shape) {
  const auto& [batch, rows, columns, sums] = shape;
  std::optional<BlasCall> best;
  for (size_t r = 0; r < std::max<size_t>(1, rows.size()); ++r) {
    for (size_t c = 0; c < std::max<size_t>(1, columns.size()); ++c) {
      for (size_t s = 0; s < std::max<size_t>(1, sums.size()); ++s) {
        BlasCall call{rows.empty() ? BlasAxis{} : rows[r], columns.empty() ? BlasAxis{} : columns[c],
                      sums.empty() ? BlasAxis{} : sums[s], batch};
        if (!is_possible<T>(call) || (best && best->work() >= call.work())) continue;
        add_others(call.loops, rows, r);
        add_others(call.loops, columns, c);
        add_others(call.loops, sums, s);
        best = std::move(call);
      }
    }
  }
  return best;
}

template <class T>
struct Pointers {
  T *output, *left, *right;
  Pointers moved(const BlasAxis& axis, int64_t steps) const {
    return {output + axis.output * steps, left + axis.left * steps, right + axis.right * steps};
  }
};

template <class T>
class BlasKernel : public BoxKernel {
 public:
  BlasKernel(T scale, BoxKernelKind kind) : kind_(kind), scale_(scale) {}

  bool takes(const BoxShape& box) const override {
    std::optional<BlasCall> call = call_for(box);
    if (!call) return false;
    if (kind_ == BoxKernelKind::Blas) return true;
    if (std::min({call->row.extent, call->column.extent, call->sum.extent}) < kThinExtent) return false;
    return kind_ == BoxKernelKind::BlasUnlessThin || !is_small(*call);
  }

  void run(const Box& box, bool overwrite) const override {
    std::optional<BlasCall> call = call_for(box);
    bool in_call = can_overwrite_in_call(*call);
    if (overwrite && !in_call) clear_output(box, sizeof(T));
    T keep = overwrite && in_call ? 0 : 1;
    Pointers<T> at{reinterpret_cast<T*>(box.data[0]), reinterpret_cast<T*>(box.data[1]),
                   reinterpret_cast<T*>(box.data[2])};
    loop(*call, at, keep, 0);
  }

  // Loads the library before the run, because a task cannot report that there is none.
  void prepare(const BoxShape&) const override { blas_library(); }

  bool is_library() const override { return true; }
  std::string description() const override { return "BLAS"; }
  std::string explain(const BoxShape& box, const std::vector<std::string>&) const override {
    return (call_for(box)->loops.empty() ? "" : "a loop of ") + blas_name(*blas_shape(box)) + " by BLAS";
  }

 private:
  static bool is_small(const BlasCall& c) {
    // There are no register blocks for complex numbers.
    if (!std::is_floating_point_v<T> || !c.loops.empty()) return false;
    bool by_rows = c.column.output == 1 && c.sum.left == 1 && c.column.right == 1;
    bool by_columns = c.row.output == 1 && c.sum.right == 1 && c.row.left == 1;
    int64_t rows = by_rows ? c.row.extent : c.column.extent, columns = by_rows ? c.column.extent : c.row.extent;
    return (by_rows || by_columns) && columns <= kSmallColumns && 2 * rows >= columns;
  }

  static std::optional<BlasCall> call_for(const BoxShape& box) {
    std::optional<BlasShape> shape = blas_shape(box);
    return shape ? best_call<T>(*shape) : std::nullopt;
  }

  // Whether BLAS itself can overwrite the output. No two calls may add to the same element; axpy and ger always add;
  // and some gemv keep a NaN of the old output although beta is 0.
  static bool can_overwrite_in_call(const BlasCall& call) {
    bool adds = std::any_of(call.loops.begin(), call.loops.end(), [](const BlasAxis& s) { return s.output == 0; });
    return !adds && call.sum.extent > 1 && (call.row.extent > 1) == (call.column.extent > 1);
  }

  void loop(const BlasCall& call, const Pointers<T>& at, T keep, size_t depth) const {
    if (depth == call.loops.size()) return multiply(call, at, keep);
    for (int64_t x = 0; x < call.loops[depth].extent; ++x) loop(call, at.moved(call.loops[depth], x), keep, depth + 1);
  }

  static int as_int(int64_t n) { return static_cast<int>(n); }
  // BLAS refuses an increment of 0, also for a vector of one element.
  static int increment(int64_t stride) { return stride == 0 ? 1 : as_int(stride); }

  void multiply(const BlasCall& c, const Pointers<T>& at, T keep) const {
    int m = as_int(c.row.extent), n = as_int(c.column.extent), k = as_int(c.sum.extent);
    if (m == 1 && n == 1) {
      T sum = scale_ * blas::dot(k, at.left, increment(c.sum.left), at.right, increment(c.sum.right));
      *at.output = keep == T(0) ? sum : *at.output + sum;
    } else if (n == 1 && k == 1) {
      blas::axpy<T>(m, scale_ * *at.right, at.left, increment(c.row.left), at.output, increment(c.row.output));
    } else if (m == 1 && k == 1) {
      blas::axpy<T>(n, scale_ * *at.left, at.right, increment(c.column.right), at.output, increment(c.column.output));
    } else if (n == 1) {
      vector(m, k, {at.left, c.row.left, c.sum.left}, at.right, c.sum.right, at.output, c.row.output);
    } else if (m == 1) {
      vector(n, k, {at.right, c.column.right, c.sum.right}, at.left, c.sum.left, at.output, c.column.output);
    } else if (k == 1) {
      outer(m, n, {at.output, c.row.output, c.column.output}, at.left, c.row.left, at.right, c.column.right);
    } else {
      blas::multiply<T>(m, n, k, {at.output, c.row.output, c.column.output}, {at.left, c.row.left, c.sum.left},
                        {at.right, c.sum.right, c.column.right}, scale_, keep);
    }
  }

  void vector(int rows, int columns, const Matrix<T>& b, const T* x, int64_t incx, T* y, int64_t incy) const {
    blas::Operand o = blas::operand(b, rows, columns);
    bool transposed = o.transpose == CblasTrans;
    blas::gemv(o.transpose, transposed ? columns : rows, transposed ? rows : columns, b.data, o.leading, x,
               increment(incx), y, increment(incy), scale_);
  }

  void outer(int m, int n, const Matrix<T>& a, const T* x, int64_t incx, const T* y, int64_t incy) const {
    blas::Operand o = blas::operand(a, m, n);
    if (o.transpose == CblasTrans) {
      blas::ger(n, m, y, increment(incy), x, increment(incx), a.data, o.leading, scale_);
    } else {
      blas::ger(m, n, x, increment(incx), y, increment(incy), a.data, o.leading, scale_);
    }
  }

  BoxKernelKind kind_;
  T scale_;
};

}  // namespace

std::unique_ptr<BoxKernel> make_blas_kernel(const LeafTerm& term, ElementType type, BoxKernelKind kind) {
  return make_for_blas<BlasKernel>(term, type, kind);
}

}  // namespace distal::core
