#include "leaf/symmetric.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "leaf/blas.h"
#include "leaf/blas_shape.h"
#include "support/checked.h"
#include "support/scratch.h"
#include "support/team.h"

namespace distal::core {

namespace {

constexpr int64_t kSquare = 256;      // rows and columns of the blocks that are multiplied and mirrored
constexpr int64_t kFewestRows = 512;  // mirroring a smaller matrix saves nothing
constexpr int64_t kMirrorTile = 32;

template <class T>
struct SymmetricShape {
  int64_t rows, sums;
  Matrix<T> output, left;
};

template <class T>
class SymmetricKernel : public BoxKernel {
 public:
  explicit SymmetricKernel(T scale) : scale_(scale) {}

  bool takes(const BoxShape& box) const override { return find(box).has_value(); }
  void prepare(const BoxShape&) const override { blas_library(); }
  void run(const Box& box, bool overwrite) const override { run_by_team(box, overwrite, nullptr); }

  bool run_by_team(const Box& box, bool overwrite, Team* team) const override {
    SymmetricShape<T> shape = *find(box);
    shape.output.data = reinterpret_cast<T*>(box.data[0]);
    shape.left.data = reinterpret_cast<T*>(box.data[1]);
    int64_t squares = ceil_div(shape.rows, kSquare);
    // Each thread takes the next square on or above the diagonal, row by row.
    std::atomic<int64_t> next{0};
    auto work = [&](int) {
      for (int64_t at = next++; at < squares * squares; at = next++) {
        if (at % squares >= at / squares) square(shape, overwrite, at / squares * kSquare, at % squares * kSquare);
      }
    };
    team ? team->run(work) : work(0);
    return true;
  }

  bool is_library() const override { return true; }
  std::string description() const override { return "symmetric product (BLAS)"; }
  std::string explain(const BoxShape&, const std::vector<std::string>&) const override {
    return "syrk: one half by BLAS gemm, the other half mirrored";
  }

 private:
  // Matches a box with one row axis, one column axis and one sum, whose second operand is the transpose of the first.
  // The matrices are not yet in memory.
  static std::optional<SymmetricShape<T>> find(const BoxShape& box) {
    std::optional<BlasShape> shape = blas_shape(box);
    if (!shape || box.axes.size() != 3 || box.same_as[1] != box.same_as[2]) return std::nullopt;
    const auto& [batch, rows, columns, sums] = *shape;
    if (rows.size() != 1 || columns.size() != 1 || sums.size() != 1) return std::nullopt;
    const BlasAxis &row = rows[0], &column = columns[0], &sum = sums[0];
    if (row.extent != column.extent || row.extent < kFewestRows) return std::nullopt;
    if (row.left != column.right || sum.left != sum.right) return std::nullopt;
    SymmetricShape<T> out{row.extent, sum.extent, {nullptr, row.output, column.output}, {nullptr, row.left, sum.left}};
    bool possible = blas::operand(out.output, out.rows, out.rows).possible &&
                    blas::operand(out.left, out.rows, out.sums).possible && blas::fits_int(out.rows) &&
                    blas::fits_int(out.sums);
    return possible ? std::optional(out) : std::nullopt;
  }

  void square(const SymmetricShape<T>& s, bool overwrite, int64_t i, int64_t j) const {
    int64_t m = std::min(kSquare, s.rows - i), n = std::min(kSquare, s.rows - j);
    Matrix<T> left = part(s.left, i, 0), right = part(s.left, j, 0).transposed();
    Matrix<T> output = part(s.output, i, j), mirrored = part(s.output, j, i).transposed();
    if (overwrite) {
      blas::multiply<T>(m, n, s.sums, output, left, right, scale_, T(0));
      if (i != j) copy(m, n, mirrored, output, false);
      return;
    }
    Matrix<T> product{reinterpret_cast<T*>(scratch(kSquare * kSquare * sizeof(T))), n, 1};
    blas::multiply<T>(m, n, s.sums, product, left, right, scale_, T(0));
    copy(m, n, output, product, true);
    if (i != j) copy(m, n, mirrored, product, true);
  }

  static Matrix<T> part(const Matrix<T>& m, int64_t i, int64_t j) {
    return {m.data + i * m.row + j * m.column, m.row, m.column};
  }

  // Copies tile by tile, because one of the matrices may be transposed.
  static void copy(int64_t rows, int64_t columns, const Matrix<T>& to, const Matrix<T>& from, bool adds) {
    for (int64_t ti = 0; ti < rows; ti += kMirrorTile) {
      for (int64_t tj = 0; tj < columns; tj += kMirrorTile) {
        for (int64_t i = ti; i < std::min(rows, ti + kMirrorTile); ++i) {
          for (int64_t j = tj; j < std::min(columns, tj + kMirrorTile); ++j) {
            T& out = to.data[i * to.row + j * to.column];
            const T& in = from.data[i * from.row + j * from.column];
            out = adds ? out + in : in;
          }
        }
      }
    }
  }

  T scale_;
};

}  // namespace

std::unique_ptr<BoxKernel> make_symmetric_kernel(const LeafTerm& term, ElementType type) {
  return make_for_blas<SymmetricKernel>(term, type);
}

}  // namespace distal::core
