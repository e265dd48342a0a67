#include "leaf/contraction.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "leaf/blas.h"

namespace distal::core {

namespace {

const Binary* product_of_two(const Expr& expr) {
  const auto* b = std::get_if<Binary>(&expr.node());
  bool accesses = b && b->op == BinaryOp::Multiply && std::holds_alternative<Access>(b->left.node()) &&
                  std::holds_alternative<Access>(b->right.node());
  return accesses ? b : nullptr;
}

bool has(const LeafOperand& operand, int v) {
  return std::find(operand.indices.begin(), operand.indices.end(), v) != operand.indices.end();
}

// Whether the part's loops run over all combinations of the indices' ranges, at any size and on every processor.
bool is_box(const LeafTask& task, const std::vector<int>& indices) {
  const IterationSpace<IntExpr>& space = task.stage->stage->space;
  std::vector<Interval<IntExpr>> intervals;
  for (int v = 0; v < space.size(); ++v) {
    IntExpr name = IntExpr::name(space.names[v]);
    bool runs = std::find(task.loops.begin(), task.loops.end(), v) != task.loops.end();
    intervals.push_back(runs ? bounds_detail::full(space.extents[v])
                             : Interval<IntExpr>{name, name + IntExpr(1), true, true});
  }
  bounds(space, intervals);
  return std::all_of(indices.begin(), indices.end(), [&](int v) { return intervals[v].exact; });
}

// One index, or several that are as one: how many steps, and how far each goes in the three operands.
struct Axis {
  int64_t extent = 1;
  int64_t output = 0, left = 0, right = 0;

  bool continues(const Axis& inner) const {
    return output == inner.extent * inner.output && left == inner.extent * inner.left &&
           right == inner.extent * inner.right;
  }
};

// Indices that lie one inside the other in all operands run as one.
void fuse(std::vector<Axis>& axes) {
  std::erase_if(axes, [](const Axis& a) { return a.extent == 1; });
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
    return std::max({a.output, a.left, a.right}) > std::max({b.output, b.left, b.right});
  });
  for (size_t i = 0; i + 1 < axes.size();) {
    if (axes[i].continues(axes[i + 1])) {
      axes[i + 1].extent *= axes[i].extent;
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

// What one call of BLAS does, and the loops around it.
struct Call {
  Axis row, column, sum;
  std::vector<Axis> loops;
  double work() const {
    return static_cast<double>(row.extent) * static_cast<double>(column.extent) * static_cast<double>(sum.extent);
  }
};

template <class T>
struct Pointers {
  T *output, *left, *right;
  Pointers moved(const Axis& axis, int64_t steps) const {
    return {output + axis.output * steps, left + axis.left * steps, right + axis.right * steps};
  }
};

template <class T>
class ContractionLeaf : public LeafKernel {
 public:
  ContractionLeaf(const LeafTask& task, const Contraction& contraction,
                  std::function<std::unique_ptr<LeafKernel>()> otherwise)
      : space_(task.space),
        operands_(task.part->compute()->operands),
        shape_(contraction),
        runs_(static_cast<size_t>(task.space.size()), false),
        make_otherwise_(std::move(otherwise)) {
    for (int v : task.loops) runs_[v] = true;
  }

  void run(const LeafArguments& arguments) const override {
    std::vector<Interval<int64_t>> intervals(arguments.values.size());
    for (size_t v = 0; v < intervals.size(); ++v) {
      intervals[v] = runs_[v] ? Interval<int64_t>{0, space_.extents[v], true, false}
                              : Interval<int64_t>{arguments.values[v], arguments.values[v] + 1, true, true};
    }
    if (!bounds(space_, intervals)) return;
    std::optional<Call> call = best_call(arguments, intervals);
    if (!call) return otherwise().run(arguments);
    Pointers<T> at{start(arguments, intervals, 0), start(arguments, intervals, shape_.left),
                   start(arguments, intervals, shape_.right)};
    loop(*call, at, 0);
  }

  std::string description() const override { return to_string(shape_) + " (BLAS)"; }

 private:
  T* start(const LeafArguments& arguments, const std::vector<Interval<int64_t>>& intervals, int operand) const {
    const View& view = arguments.operands[operands_[operand].number];
    int64_t offset = view.offset;
    const std::vector<int>& indices = operands_[operand].indices;
    for (size_t d = 0; d < indices.size(); ++d) offset += intervals[indices[d]].lo * view.strides[d];
    return reinterpret_cast<T*>(view.data) + offset;
  }

  int64_t stride(const LeafArguments& arguments, int operand, int v) const {
    const std::vector<int>& indices = operands_[operand].indices;
    for (size_t d = 0; d < indices.size(); ++d) {
      if (indices[d] == v) return arguments.operands[operands_[operand].number].strides[d];
    }
    return 0;
  }

  std::vector<Axis> axes(const LeafArguments& arguments, const std::vector<Interval<int64_t>>& intervals,
                         const std::vector<int>& indices) const {
    std::vector<Axis> out;
    for (int v : indices) {
      out.push_back({intervals[v].hi - intervals[v].lo, stride(arguments, 0, v), stride(arguments, shape_.left, v),
                     stride(arguments, shape_.right, v)});
    }
    fuse(out);
    return out;
  }

  // Of the calls that BLAS can take, the one that does most; the other indices are loops around it.
  std::optional<Call> best_call(const LeafArguments& arguments, const std::vector<Interval<int64_t>>& intervals) const {
    std::vector<Axis> rows = axes(arguments, intervals, shape_.rows);
    std::vector<Axis> columns = axes(arguments, intervals, shape_.columns);
    std::vector<Axis> sums = axes(arguments, intervals, shape_.sums);
    std::vector<Axis> batch = axes(arguments, intervals, shape_.batch);
    std::optional<Call> best;
    for (size_t r = 0; r < std::max<size_t>(1, rows.size()); ++r) {
      for (size_t c = 0; c < std::max<size_t>(1, columns.size()); ++c) {
        for (size_t s = 0; s < std::max<size_t>(1, sums.size()); ++s) {
          Call call{rows.empty() ? Axis{} : rows[r], columns.empty() ? Axis{} : columns[c],
                    sums.empty() ? Axis{} : sums[s], batch};
          if (!is_possible(call) || (best && best->work() >= call.work())) continue;
          add_others(call.loops, rows, r);
          add_others(call.loops, columns, c);
          add_others(call.loops, sums, s);
          best = std::move(call);
        }
      }
    }
    return best;
  }

  static void add_others(std::vector<Axis>& loops, const std::vector<Axis>& axes, size_t taken) {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (i != taken) loops.push_back(axes[i]);
    }
  }

  static bool is_possible(const Call& c) {
    for (const Axis* a : {&c.row, &c.column, &c.sum}) {
      if (!blas::fits(std::max({a->extent, a->output, a->left, a->right}))) return false;
      if (std::min({a->output, a->left, a->right}) < 0) return false;
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

  void loop(const Call& call, const Pointers<T>& at, size_t depth) const {
    if (depth == call.loops.size()) return multiply(call, at);
    for (int64_t x = 0; x < call.loops[depth].extent; ++x) loop(call, at.moved(call.loops[depth], x), depth + 1);
  }

  static int as_int(int64_t n) { return static_cast<int>(n); }
  // BLAS wants a step also where there is only one element.
  static int step(int64_t stride) { return stride == 0 ? 1 : as_int(stride); }

  static void multiply(const Call& c, const Pointers<T>& at) {
    int m = as_int(c.row.extent), n = as_int(c.column.extent), k = as_int(c.sum.extent);
    if (m == 1 && n == 1) {
      *at.output += blas::dot(k, at.left, step(c.sum.left), at.right, step(c.sum.right));
    } else if (n == 1) {
      vector(m, k, {at.left, c.row.left, c.sum.left}, at.right, c.sum.right, at.output, c.row.output);
    } else if (m == 1) {
      vector(n, k, {at.right, c.column.right, c.sum.right}, at.left, c.sum.left, at.output, c.column.output);
    } else if (k == 1) {
      outer(m, n, {at.output, c.row.output, c.column.output}, at.left, c.row.left, at.right, c.column.right);
    } else {
      blas::multiply<T>(m, n, k, {at.output, c.row.output, c.column.output}, {at.left, c.row.left, c.sum.left},
                        {at.right, c.sum.right, c.column.right});
    }
  }

  static void vector(int rows, int columns, const Matrix<T>& b, const T* x, int64_t incx, T* y, int64_t incy) {
    blas::Operand o = blas::operand(b, rows, columns);
    bool transposed = o.transpose == CblasTrans;
    blas::gemv(o.transpose, transposed ? columns : rows, transposed ? rows : columns, b.data, o.leading, x, step(incx),
               y, step(incy));
  }

  static void outer(int m, int n, const Matrix<T>& a, const T* x, int64_t incx, const T* y, int64_t incy) {
    blas::Operand o = blas::operand(a, m, n);
    if (o.transpose == CblasTrans) {
      blas::ger(n, m, y, step(incy), x, step(incx), a.data, o.leading);
    } else {
      blas::ger(m, n, x, step(incx), y, step(incy), a.data, o.leading);
    }
  }

  const LeafKernel& otherwise() const {
    std::call_once(once_, [&] { otherwise_ = make_otherwise_(); });
    return *otherwise_;
  }

  IterationSpace<int64_t> space_;
  std::vector<LeafOperand> operands_;
  Contraction shape_;
  std::vector<bool> runs_;
  std::function<std::unique_ptr<LeafKernel>()> make_otherwise_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<LeafKernel> otherwise_;
};

}  // namespace

std::string to_string(const Contraction& contraction) {
  if (contraction.sums.empty()) return "outer products";
  if (contraction.rows.empty() && contraction.columns.empty()) return "inner products";
  return contraction.rows.empty() || contraction.columns.empty() ? "gemv" : "gemm";
}

std::variant<Contraction, std::string> match_contraction(const LeafTask& task, ElementType type) {
  if (is_integer(type)) return std::string("there is no BLAS for integers");
  const Compute& compute = *task.part->compute();
  if (!task.part->marks.empty()) return std::string("its loops are marked");
  if (!compute.accumulate) return std::string("it stores and does not add");
  const LeafTerm& term = compute.terms[0];
  if (compute.terms.size() != 1 || term.negated || !product_of_two(term.expr)) {
    return fmt::format("{} is not a product of two tensors", to_string(compute.assignment.rhs));
  }
  if (!term.only_at_zero.empty()) return std::string("it does not contribute at every iteration");

  Contraction out;
  std::vector<int> all;
  for (const LeafOperand& o : compute.operands) {
    for (size_t d = 0; d < o.indices.size(); ++d) {
      if (std::count(o.indices.begin(), o.indices.end(), o.indices[d]) > 1) return std::string("an index stands twice");
      if (std::find(all.begin(), all.end(), o.indices[d]) == all.end()) all.push_back(o.indices[d]);
    }
  }
  for (int v : all) {
    bool a = has(compute.operands[0], v), b = has(compute.operands[1], v), c = has(compute.operands[2], v);
    if (a + b + c < 2) return fmt::format("{} stands in one tensor only", task.stage->space.names[v]);
    (a && b && c ? out.batch : a && b ? out.rows : a ? out.columns : out.sums).push_back(v);
  }
  if (!is_box(task, all)) return std::string("its loops do not run over a box");
  return out;
}

std::unique_ptr<LeafKernel> make_contraction_leaf(const LeafTask& task, ElementType type,
                                                  const Contraction& contraction,
                                                  std::function<std::unique_ptr<LeafKernel>()> otherwise) {
  blas_library();  // loaded here: a task has nobody to tell that it is missing
  return with_element_type(type, [&](auto zero) -> std::unique_ptr<LeafKernel> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      throw InternalError("a contraction of integers by BLAS");
    } else {
      return std::make_unique<ContractionLeaf<T>>(task, contraction, std::move(otherwise));
    }
  });
}

}  // namespace distal::core
