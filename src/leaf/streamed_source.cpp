#include "leaf/streamed_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "leaf/cpp_text.h"
#include "leaf/support_text.h"

namespace distal::core {

namespace {

// The side of a tile, in cache lines, if an operand is strided along x. The tile uses whole cache lines of the operand,
// and its transposed copy stays in the first-level cache. The rows of the copy are padded by a line, so that they do
// not alias.
constexpr int kTileLines = 4;
// A row is short up to this many bytes.
constexpr int64_t kShortRow = 8 << 10;
// The elements of a row that are computed in a buffer before non-temporal stores write them: a few cache lines.
constexpr int kChunk = 64;

class PlaneWriter {
 public:
  PlaneWriter(const std::vector<LeafTerm>& terms, ElementType type, const PlaneShape& shape)
      : terms_(terms), type_(type), shape_(shape) {}

  std::string run() {
    if (is_complex(type_)) out_ += "#include <complex>\n";
    out_ += fmt::format("typedef {} T;\ntypedef {} C;\ntypedef long Int;\n", plain_cpp_type(cpp_type(type_)),
                        plain_cpp_type(computing_type(type_)));
    if (is_nontemporal()) out_ += leaf_support_text("nontemporal.h");
    if (is_tiled()) {
      out_ += fmt::format("enum {{ LINE = 64 / sizeof(T), TILE = {} * LINE, ROW = TILE + LINE }};\n", kTileLines);
    }
    if (transposes_in_registers()) out_ += leaf_support_text("transpose.h");
    out_ += "\nextern \"C\" void leaf(Int nx, Int ny, void* const* data, const Int* stride_x, const Int* stride_y) {\n";
    for (size_t o = 0; o < shape_.x.size(); ++o) declare(o);
    if (is_tiled()) {
      tiles();
    } else {
      line("Int y = 0;");
      if (shares_rows() || is_nontemporal()) rows_together();
      rows(1, "ny");
    }
    if (is_nontemporal()) out_ += "#if defined(__x86_64__)\n  __builtin_ia32_sfence();\n#endif\n";
    return out_ + "}\n";
  }

 private:
  void line(const std::string& text) { out_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + text + "\n"; }

  void open(const std::string& text) {
    line(text + " {");
    ++indent_;
  }

  void close() {
    --indent_;
    line("}");
  }

  bool sums() const { return shape_.x[0] == StrideKind::Zero; }  // along x
  bool is_nontemporal() const { return shape_.nontemporal && !shape_.accumulate && shape_.x[0] == StrideKind::Unit; }
  bool is_tiled() const {
    return std::any_of(shape_.x.begin(), shape_.x.end(), [](StrideKind s) { return s == StrideKind::Large; });
  }

  // Whether it pays to run several rows at once: each has a sum of its own, or they share an operand that moves along
  // x.
  bool shares_rows() const {
    if (sums()) return true;
    for (size_t o = 0; o < shape_.x.size(); ++o) {
      if (shape_.x[o] != StrideKind::Zero && !shape_.moves_along_y[o]) return true;
    }
    return false;
  }

  void declare(size_t o) {
    const char* constant = o == 0 ? "" : "const ";
    line(fmt::format("{0}T* __restrict p{1} = static_cast<{0}T*>(data[{1}]);", constant, o));
    if (shape_.x[o] == StrideKind::Large) line(fmt::format("const Int sx{0} = stride_x[{0}];", o));
    if (shape_.moves_along_y[o]) line(fmt::format("const Int sy{0} = stride_y[{0}];", o));
  }

  // The pointer to row r of those that run at once. All rows share it if the operand does not move along y.
  std::string row(size_t o, int r) const { return fmt::format("p{}_{}", o, shape_.moves_along_y[o] ? r : 0); }

  void point_at_rows(int count) {
    for (size_t o = 0; o < shape_.x.size(); ++o) {
      for (int r = 0; r < (shape_.moves_along_y[o] ? count : 1); ++r) {
        std::string y = r == 0 ? "y" : fmt::format("(y + {} * per_stream)", r);
        std::string at = shape_.moves_along_y[o] ? fmt::format("p{0} + {1} * sy{0}", o, y) : fmt::format("p{}", o);
        line(fmt::format("{}T* __restrict {} = {};", o == 0 ? "" : "const ", row(o, r), at));
        if (o > 0 && shape_.x[o] == StrideKind::Zero) line(fmt::format("const T c{} = {}[0];", row(o, r), row(o, r)));
      }
    }
  }

  std::string element(size_t o, int r, const std::string& x) const {
    switch (shape_.x[o]) {
      case StrideKind::Zero: return o == 0 ? fmt::format("{}[0]", row(o, r)) : "c" + row(o, r);
      case StrideKind::Unit: return fmt::format("{}[{}]", row(o, r), x);
      case StrideKind::Large:
        if (is_transposed(o)) return fmt::format("transposed{}[(y - ty) * ROW + {} - tx]", o, x);
        return fmt::format("{}[({}) * sx{}]", row(o, r), x, o);
    }
    throw InternalError("unknown stride");
  }

  // The text of the sum of all terms, of row r at x.
  std::string value(int r, const std::string& x) const {
    std::string out;
    for (const LeafTerm& term : terms_) {
      std::string text =
          expression_text(term, type_, [&](int operand) { return element(static_cast<size_t>(operand), r, x); });
      out += out.empty() ? (term.negated ? "C(0) - " : "") : (term.negated ? " - " : " + ");
      out += text;
    }
    return "C(" + out + ")";
  }

  // Code that runs several rows at once: always, or only if the rows are short when the code runs.
  void rows_together() {
    int64_t moving = 0;
    for (size_t o = 1; o < shape_.x.size(); ++o)
      moving += shape_.x[o] != StrideKind::Zero && shape_.moves_along_y[o] ? 1 : 0;
    int many = rows_at_once(sums(), moving, true);
    if (rows_at_once(sums(), moving, false) == many) return rows_in_streams(many);
    open(fmt::format("if (nx * Int(sizeof(T)) <= {})", kShortRow));
    rows_in_streams(many);
    close();
  }

  // Divides the rows into `count` streams of consecutive rows, and runs one row of each stream at once: memory serves
  // long streams best, also if their rows are short. Long streams have an odd number of rows, because streams at
  // power-of-two distances alias in the caches.
  void rows_in_streams(int count) {
    line(fmt::format("const Int share = ny / {}, per_stream = share > 64 && share % 2 == 0 ? share - 1 : share;",
                     count));
    rows(count, "per_stream");
    line(fmt::format("y = {} * per_stream;", count));
  }

  void rows(int count, const std::string& end) {
    open(fmt::format("for (; y < {}; ++y)", end));
    point_at_rows(count);
    if (sums()) {
      sum_rows(count, "0", "nx");
    } else if (is_nontemporal()) {
      nontemporal_rows(count);
    } else {
      open("for (Int x = 0; x < nx; ++x)");
      store_rows(count);
      close();
    }
    close();
  }

  void sum_rows(int count, const std::string& from, const std::string& to) {
    for (int r = 0; r < count; ++r) line(fmt::format("C t{} = C(0);", r));
    open(fmt::format("for (Int x = {}; x < {}; ++x)", from, to));
    for (int r = 0; r < count; ++r) line(fmt::format("t{} += {};", r, value(r, "x")));
    close();
    for (int r = 0; r < count; ++r) store(element(0, r, "0"), fmt::format("t{}", r));
  }

  void store_rows(int count) {
    if (shape_.moves_along_y[0]) {
      for (int r = 0; r < count; ++r) store(element(0, r, "x"), value(r, "x"));
      return;
    }
    std::string all;
    for (int r = 0; r < count; ++r) all += (r == 0 ? "" : " + ") + value(r, "x");
    store(element(0, 0, "x"), "C(" + all + ")");
  }

  void store(const std::string& to, const std::string& text) {
    line(shape_.accumulate ? fmt::format("{0} = T(C({0}) + {1});", to, text) : fmt::format("{} = T({});", to, text));
  }

  void nontemporal_rows(int count) {
    line(fmt::format("T chunk[{}];", kChunk));
    open(fmt::format("for (Int first = 0; first < nx; first += {})", kChunk));
    line(fmt::format("const Int n = nx - first < {0} ? nx - first : {0};", kChunk));
    for (int r = 0; r < count; ++r) nontemporal_chunk(r, "first");
    close();
  }

  void nontemporal_chunk(int r, const std::string& first) {
    open("for (Int i = 0; i < n; ++i)");
    line(fmt::format("chunk[i] = T({});", value(r, first + " + i")));
    close();
    line(fmt::format("copy_nontemporal({} + {}, chunk, n);", row(0, r), first));
  }

  // Whether tiles of the operand are transposed first: it is strided along x, but not along y.
  bool is_transposed(size_t o) const { return o > 0 && shape_.x[o] == StrideKind::Large && shape_.moves_along_y[o]; }

  bool transposes() const {
    for (size_t o = 1; o < shape_.x.size(); ++o) {
      if (is_transposed(o)) return true;
    }
    return false;
  }

  // Tiles are transposed by shuffling vector registers, if the type can be a vector element.
  bool transposes_in_registers() const { return transposes() && !is_complex(type_); }

  void transpose(size_t o) {
    if (transposes_in_registers()) {
      open(fmt::format("if (sy{} == 1 && n == TILE && end_y - ty == TILE)", o));
      line(fmt::format("transpose_tile(p{0} + tx * sx{0} + ty, sx{0}, transposed{0});", o));
      --indent_;
      open("} else");
    }
    open("for (Int x = 0; x < n; ++x)");
    line(fmt::format("const T* __restrict from = p{0} + (tx + x) * sx{0} + ty * sy{0};", o));
    line(fmt::format("for (Int y = 0; y < end_y - ty; ++y) transposed{0}[y * ROW + x] = from[y * sy{0}];", o));
    close();
    if (transposes_in_registers()) close();
  }

  // While one row is computed, prefetches one row of the next tile of each operand. The rows of a tile are too short
  // for the hardware to predict. They go to the second-level cache, because rows at power-of-two strides alias in the
  // first.
  void prefetch_next_tile() {
    for (size_t o = 0; o < shape_.x.size(); ++o) {
      bool is_read = o > 0 || shape_.accumulate;
      if (is_transposed(o)) {
        line(fmt::format("const T* next{0} = p{0} + (next_x + y - ty) * sx{0} + next_y * sy{0};", o));
        line(fmt::format("for (Int l = 0; l < TILE; l += LINE) __builtin_prefetch(next{0} + l * sy{0}, 0, 2);", o));
      } else if (is_read && shape_.x[o] == StrideKind::Unit && shape_.moves_along_y[o]) {
        line(fmt::format("for (Int l = 0; l < TILE; l += LINE) __builtin_prefetch({} + end_x + l, 0, 2);", row(o, 0)));
      }
    }
  }

  void tiles() {
    for (size_t o = 0; o < shape_.x.size(); ++o) {
      if (is_transposed(o)) line(fmt::format("T transposed{}[TILE * ROW];", o));
    }
    if (is_nontemporal()) line("T chunk[TILE];");
    open("for (Int ty = 0; ty < ny; ty += TILE)");
    line("const Int end_y = ty + TILE < ny ? ty + TILE : ny;");
    open("for (Int tx = 0; tx < nx; tx += TILE)");
    line("const Int end_x = tx + TILE < nx ? tx + TILE : nx;");
    line("const Int n = end_x - tx;");
    if (transposes()) {
      line("const bool is_last = end_x == nx;");
      line("const Int next_x = is_last ? 0 : end_x, next_y = is_last && end_y < ny ? end_y : ty;");
    }
    for (size_t o = 0; o < shape_.x.size(); ++o) {
      if (is_transposed(o)) transpose(o);
    }
    rows_of_tile();
    close();
    close();
  }

  void rows_of_tile() {
    open("for (Int y = ty; y < end_y; ++y)");
    point_at_rows(1);
    if (transposes()) prefetch_next_tile();
    if (sums()) {
      sum_rows(1, "tx", "end_x");
    } else if (is_nontemporal()) {
      nontemporal_chunk(0, "tx");
    } else {
      open("for (Int x = tx; x < end_x; ++x)");
      store_rows(1);
      close();
    }
    close();
  }

  const std::vector<LeafTerm>& terms_;
  ElementType type_;
  const PlaneShape& shape_;
  std::string out_;
  int indent_ = 1;
};

}  // namespace

int rows_at_once(bool sums, int64_t moving_operands, bool is_short) {
  return sums && moving_operands > 1 && !is_short ? 1 : 4;
}

bool PlaneShape::operator<(const PlaneShape& other) const {
  return std::tie(x, moves_along_y, accumulate, nontemporal) <
         std::tie(other.x, other.moves_along_y, other.accumulate, other.nontemporal);
}

std::string plane_source(const std::vector<LeafTerm>& terms, ElementType type, const PlaneShape& shape) {
  return PlaneWriter(terms, type, shape).run();
}

}  // namespace distal::core
