#include "leaf/blas_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "leaf/blas.h"
#include "leaf/blas_library.h"
#include "leaf/blas_shape.h"
#include "leaf/product.h"

namespace distal::core {

namespace {

// Below this length of a side, blocks of our own are faster: BLAS is not made for thin matrices.
constexpr int64_t kThin = 192;
// Up to so many columns they are faster too, if nothing is transposed, as they pack one operand only: for enough rows.
constexpr int64_t kSmall = 1024;

bool has(const LeafOperand& operand, int v) {
  return std::find(operand.indices.begin(), operand.indices.end(), v) != operand.indices.end();
}

std::string form_of(size_t rows, size_t columns, size_t sums) {
  if (sums == 0) return "outer products";
  if (rows == 0 && columns == 0) return "inner products";
  return rows == 0 || columns == 0 ? "gemv" : "gemm";
}

// What one call of BLAS does, and the loops around it.
struct Call {
  Side row, column, sum;
  Sides loops;
  double work() const {
    return static_cast<double>(row.extent) * static_cast<double>(column.extent) * static_cast<double>(sum.extent);
  }
};

template <class T>
bool is_possible(const Call& c) {
  for (const Side* s : {&c.row, &c.column, &c.sum}) {
    if (!blas::fits(std::max({s->extent, s->output, s->left, s->right}))) return false;
    if (std::min({s->output, s->left, s->right}) < 0) return false;
  }
  auto takes = [](int64_t row, int64_t column, int64_t rows, int64_t columns) {
    return blas::operand(Matrix<T>{nullptr, row, column}, rows, columns).possible;
  };
  bool output = takes(c.row.output, c.column.output, c.row.extent, c.column.extent);
  bool left = takes(c.row.left, c.sum.left, c.row.extent, c.sum.extent);
  bool right = takes(c.sum.right, c.column.right, c.sum.extent, c.column.extent);
  // Vectors may have any stride, so only what is a matrix counts.
  if (c.row.extent == 1 && c.column.extent == 1) return true;
  if (c.column.extent == 1) return left;
  if (c.row.extent == 1) return right;
  if (c.sum.extent == 1) return output;
  return output && left && right;
}

void add_others(Sides& loops, const Sides& sides, size_t taken) {
  for (size_t i = 0; i < sides.size(); ++i) {
    if (i != taken) loops.push_back(sides[i]);
  }
}

// Of the calls that BLAS can take, the one that does most; the other axes are loops around it.
template <class T>
std::optional<Call> best_call(const BlasShape& shape) {
  const auto& [rows, columns, sums, batch] = shape;
  std::optional<Call> best;
  for (size_t r = 0; r < std::max<size_t>(1, rows.size()); ++r) {
    for (size_t c = 0; c < std::max<size_t>(1, columns.size()); ++c) {
      for (size_t s = 0; s < std::max<size_t>(1, sums.size()); ++s) {
        Call call{rows.empty() ? Side{} : rows[r], columns.empty() ? Side{} : columns[c],
                  sums.empty() ? Side{} : sums[s], batch};
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
  Pointers moved(const Side& side, int64_t steps) const {
    return {output + side.output * steps, left + side.left * steps, right + side.right * steps};
  }
};

template <class T>
class BlasKernel : public BoxKernel {
 public:
  BlasKernel(T scale, BlasUse use) : use_(use), scale_(scale) {}

  bool takes(const Box& box) const override {
    std::optional<Call> call = call_for(box);
    if (!call) return false;
    if (use_ == BlasUse::WherePossible) return true;
    if (std::min({call->row.extent, call->column.extent, call->sum.extent}) < kThin) return false;
    return use_ == BlasUse::UnlessThin || !is_small(*call);
  }

  void run(const Box& box, bool begin) const override {
    std::optional<Call> call = call_for(box);
    bool in_call = begins_in_call(*call);
    if (begin && !in_call) clear_output(box, sizeof(T));
    T keep = begin && in_call ? 0 : 1;
    Pointers<T> at{reinterpret_cast<T*>(box.data[0]), reinterpret_cast<T*>(box.data[1]),
                   reinterpret_cast<T*>(box.data[2])};
    loop(*call, at, keep, 0);
  }

  // That there is no library is said before the run: a task has nobody to tell.
  void prepare(const Box&) const override { blas_library(); }

  bool is_library() const override { return true; }
  std::string description() const override { return "BLAS"; }
  std::string explain(const Box& box, const std::vector<std::string>&) const override {
    const BlasShape shape = *blas_shape(box);
    std::string loops = call_for(box)->loops.empty() ? "" : "a loop of ";
    return loops + form_of(shape.rows.size(), shape.columns.size(), shape.sums.size()) + " by BLAS";
  }

 private:
  // Of complex numbers there are no blocks.
  static bool is_small(const Call& c) {
    if (!std::is_floating_point_v<T> || !c.loops.empty()) return false;
    bool by_rows = c.column.output == 1 && c.sum.left == 1 && c.column.right == 1;
    bool by_columns = c.row.output == 1 && c.sum.right == 1 && c.row.left == 1;
    int64_t rows = by_rows ? c.row.extent : c.column.extent, columns = by_rows ? c.column.extent : c.row.extent;
    return (by_rows || by_columns) && columns <= kSmall && 2 * rows >= columns;
  }

  static std::optional<Call> call_for(const Box& box) {
    std::optional<BlasShape> shape = blas_shape(box);
    return shape ? best_call<T>(*shape) : std::nullopt;
  }

  // Only a call that makes its part of the output in whole can begin it. Not every gemv forgets what is not a number.
  static bool begins_in_call(const Call& call) {
    bool adds = std::any_of(call.loops.begin(), call.loops.end(), [](const Side& s) { return s.output == 0; });
    return !adds && call.sum.extent > 1 && (call.row.extent > 1) == (call.column.extent > 1);
  }

  void loop(const Call& call, const Pointers<T>& at, T keep, size_t depth) const {
    if (depth == call.loops.size()) return multiply(call, at, keep);
    for (int64_t x = 0; x < call.loops[depth].extent; ++x) loop(call, at.moved(call.loops[depth], x), keep, depth + 1);
  }

  static int as_int(int64_t n) { return static_cast<int>(n); }
  // BLAS wants a step also where there is only one element.
  static int step(int64_t stride) { return stride == 0 ? 1 : as_int(stride); }

  void multiply(const Call& c, const Pointers<T>& at, T keep) const {
    int m = as_int(c.row.extent), n = as_int(c.column.extent), k = as_int(c.sum.extent);
    if (m == 1 && n == 1) {
      T sum = scale_ * blas::dot(k, at.left, step(c.sum.left), at.right, step(c.sum.right));
      *at.output = keep == T(0) ? sum : *at.output + sum;
    } else if (n == 1 && k == 1) {
      blas::axpy<T>(m, scale_ * *at.right, at.left, step(c.row.left), at.output, step(c.row.output));
    } else if (m == 1 && k == 1) {
      blas::axpy<T>(n, scale_ * *at.left, at.right, step(c.column.right), at.output, step(c.column.output));
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
    blas::gemv(o.transpose, transposed ? columns : rows, transposed ? rows : columns, b.data, o.leading, x, step(incx),
               y, step(incy), scale_);
  }

  void outer(int m, int n, const Matrix<T>& a, const T* x, int64_t incx, const T* y, int64_t incy) const {
    blas::Operand o = blas::operand(a, m, n);
    if (o.transpose == CblasTrans) {
      blas::ger(n, m, y, step(incy), x, step(incx), a.data, o.leading, scale_);
    } else {
      blas::ger(m, n, x, step(incx), y, step(incy), a.data, o.leading, scale_);
    }
  }

  BlasUse use_;
  T scale_;
};

}  // namespace

BlasForm blas_form(const Compute& compute, const LeafTerm& term, const std::vector<std::string>& names,
                   ElementType type) {
  if (is_integer(type)) return {"", "there is no BLAS for integers"};
  if (!compute.accumulate) return {"", "it stores and does not add"};
  std::optional<Product> product = product_of(term, type);
  if (!product || product->factors != 2)
    return {"", fmt::format("{} is not a product of two tensors", to_string(term.expr))};

  const LeafOperand& output = compute.operands[0];
  const LeafOperand &left = compute.operands[term.first_operand], &right = compute.operands[term.first_operand + 1];
  size_t rows = 0, columns = 0, sums = 0;
  for (const LeafOperand* o : {&output, &left, &right}) {
    for (int v : o->indices) {
      bool a = has(output, v), b = has(left, v), c = has(right, v);
      if (a + b + c < 2) return {"", fmt::format("{} stands in one tensor only", names[v])};
      rows += a && b && !c ? 1 : 0;
      columns += a && c && !b ? 1 : 0;
      sums += b && c && !a ? 1 : 0;
    }
  }
  return {form_of(rows, columns, sums), ""};
}

std::unique_ptr<BoxKernel> make_blas_kernel(const LeafTerm& term, ElementType type, BlasUse use) {
  return make_for_blas<BlasKernel>(term, type, use);
}

}  // namespace distal::core
