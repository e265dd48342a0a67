#include "leaf/streamed_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "leaf/cpp_text.h"

namespace distal::core {

namespace {

// A side of a tile where an operand strides along x, in cache lines: those that it touches are used up within the tile,
// and what is turned stays in the first cache. Its rows there are a line apart, so that they are in different places
// of it.
constexpr int kTileLines = 4;
// Rows are short up to so many bytes.
constexpr int64_t kShortRow = 8 << 10;
// Elements of a row that are computed before they are written around the caches, a few lines at a time.
constexpr int kChunk = 64;

constexpr char kStream[] = R"(
// Whole cache lines are written around the caches; what is at both ends of them goes the usual way.
static void write_past(T* to, const T* from, Int n) {
  Int x = 0;
#if defined(__AVX512F__) || defined(__AVX__)
#if defined(__AVX512F__)
  enum { BYTES = 64 };
#else
  enum { BYTES = 32 };
#endif
  typedef long long V __attribute__((vector_size(BYTES)));
  typedef long long U __attribute__((vector_size(BYTES), aligned(1), may_alias));
  while (x < n && reinterpret_cast<unsigned long>(to + x) % BYTES != 0) { to[x] = from[x]; ++x; }
  for (; x + Int(BYTES / sizeof(T)) <= n; x += BYTES / sizeof(T)) {
    V v = *reinterpret_cast<const U*>(from + x);
    asm volatile("vmovntps %1, %0" : "=m"(*reinterpret_cast<U*>(to + x)) : "x"(v));
  }
#endif
  for (; x < n; ++x) to[x] = from[x];
}
)";

constexpr char kTurn[] = R"(
#if defined(__AVX512F__)
enum { BYTES = 64 };
#elif defined(__AVX__)
enum { BYTES = 32 };
#else
enum { BYTES = 16 };
#endif
enum { LANES = BYTES / sizeof(T) };
typedef T V __attribute__((vector_size(BYTES)));
typedef T U __attribute__((vector_size(BYTES), aligned(1), may_alias));

template <int...> struct Numbers {};
template <int N, int... l> struct Below : Below<N - 1, N - 1, l...> {};
template <int... l> struct Below<0, l...> { typedef Numbers<l...> type; };

// Squares of D by D rows and lanes, those on one side of the diagonal for those on the other; then inside of each.
template <int D, int... l>
static inline __attribute__((always_inline)) void swap_squares(V* row, Numbers<l...> lanes) {
#pragma GCC unroll 16
  for (int i = 0; i < LANES; ++i) {
    if (i & D) continue;
    V a = row[i], b = row[i + D];
    row[i] = __builtin_shufflevector(a, b, (l & D ? LANES + l - D : l)...);
    row[i + D] = __builtin_shufflevector(a, b, (l & D ? LANES + l : l + D)...);
  }
  if constexpr (D > 1) swap_squares<D / 2>(row, lanes);
}

// A whole tile: `from` by columns, `to` by rows.
static void turn_tile(const T* from, Int step, T* to) {
  for (Int x = 0; x < TILE; x += LANES)
    for (Int y = 0; y < TILE; y += LANES) {
      V row[LANES];
#pragma GCC unroll 16
      for (int i = 0; i < LANES; ++i) row[i] = *reinterpret_cast<const U*>(from + (x + i) * step + y);
      swap_squares<LANES / 2>(row, typename Below<LANES>::type());
#pragma GCC unroll 16
      for (int i = 0; i < LANES; ++i) *reinterpret_cast<U*>(to + (y + i) * ROW + x) = row[i];
    }
}
)";

class PlaneWriter {
 public:
  PlaneWriter(const std::vector<LeafTerm>& terms, ElementType type, const PlaneShape& shape)
      : terms_(terms), type_(type), shape_(shape) {}

  std::string run() {
    bool complex = type_ == ElementType::ComplexFloat || type_ == ElementType::ComplexDouble;
    if (complex) out_ += "#include <complex>\n";
    out_ += fmt::format("typedef {} T;\ntypedef {} C;\ntypedef long Int;\n", plain(cpp_type(type_)),
                        plain(computing_type(type_)));
    if (streams()) out_ += kStream;
    if (is_tiled()) {
      out_ += fmt::format("enum {{ LINE = 64 / sizeof(T), TILE = {} * LINE, ROW = TILE + LINE }};\n", kTileLines);
    }
    if (turns_squares()) out_ += kTurn;
    out_ += "\nextern \"C\" void leaf(Int nx, Int ny, void* const* data, const Int* step_x, const Int* step_y) {\n";
    for (size_t o = 0; o < shape_.x.size(); ++o) declare(o);
    if (is_tiled()) {
      tiles();
    } else {
      line("Int y = 0;");
      if (shares_rows() || streams()) several_rows();
      rows(1, "ny");
    }
    if (streams()) out_ += "#if defined(__x86_64__)\n  __builtin_ia32_sfence();\n#endif\n";
    return out_ + "}\n";
  }

 private:
  // Types without a header: compiling is then twice as fast.
  static std::string plain(const std::string& type) {
    if (type == "std::int32_t") return "int";
    if (type == "std::int64_t") return "long";
    if (type == "std::uint32_t") return "unsigned";
    if (type == "std::uint64_t") return "unsigned long";
    return type;
  }

  void line(const std::string& text) { out_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + text + "\n"; }

  void open(const std::string& text) {
    line(text + " {");
    ++indent_;
  }

  void close() {
    --indent_;
    line("}");
  }

  bool sums() const { return shape_.x[0] == Pace::Still; }  // along x
  bool streams() const { return shape_.past_cache && !shape_.accumulate && shape_.x[0] == Pace::Next; }
  bool is_tiled() const {
    return std::any_of(shape_.x.begin(), shape_.x.end(), [](Pace p) { return p == Pace::Further; });
  }

  // Whether rows side by side have something in common that goes along x, or sums of their own.
  bool shares_rows() const {
    if (sums()) return true;
    for (size_t o = 0; o < shape_.x.size(); ++o) {
      if (shape_.x[o] != Pace::Still && !shape_.moves[o]) return true;
    }
    return false;
  }

  void declare(size_t o) {
    const char* constant = o == 0 ? "" : "const ";
    line(fmt::format("{0}T* __restrict p{1} = static_cast<{0}T*>(data[{1}]);", constant, o));
    if (shape_.x[o] == Pace::Further) line(fmt::format("const Int sx{0} = step_x[{0}];", o));
    if (shape_.moves[o]) line(fmt::format("const Int sy{0} = step_y[{0}];", o));
  }

  // The row r of those that run at once; an operand that does not move along y has one for all.
  std::string row(size_t o, int r) const { return fmt::format("p{}_{}", o, shape_.moves[o] ? r : 0); }

  void point_at_rows(int count) {
    for (size_t o = 0; o < shape_.x.size(); ++o) {
      for (int r = 0; r < (shape_.moves[o] ? count : 1); ++r) {
        std::string y = r == 0 ? "y" : fmt::format("(y + {} * apart)", r);
        std::string at = shape_.moves[o] ? fmt::format("p{0} + {1} * sy{0}", o, y) : fmt::format("p{}", o);
        line(fmt::format("{}T* __restrict {} = {};", o == 0 ? "" : "const ", row(o, r), at));
        if (o > 0 && shape_.x[o] == Pace::Still) line(fmt::format("const T c{} = {}[0];", row(o, r), row(o, r)));
      }
    }
  }

  std::string element(size_t o, int r, const std::string& x) const {
    switch (shape_.x[o]) {
      case Pace::Still: return o == 0 ? fmt::format("{}[0]", row(o, r)) : "c" + row(o, r);
      case Pace::Next: return fmt::format("{}[{}]", row(o, r), x);
      case Pace::Further:
        if (is_turned(o)) return fmt::format("turned{}[(y - ty) * ROW + {} - tx]", o, x);
        return fmt::format("{}[({}) * sx{}]", row(o, r), x, o);
    }
    throw InternalError("unknown pace");
  }

  // The terms of row r at x.
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

  // The code is for rows of any length; long ones may run one by one.
  void several_rows() {
    int64_t moving = 0;
    for (size_t o = 1; o < shape_.x.size(); ++o) moving += shape_.x[o] != Pace::Still && shape_.moves[o] ? 1 : 0;
    int many = rows_at_once(sums(), moving, true);
    if (rows_at_once(sums(), moving, false) == many) return rows_apart(many);
    open(fmt::format("if (nx * Int(sizeof(T)) <= {})", kShortRow));
    rows_apart(many);
    close();
  }

  // Those that run at once are far apart, each the first of many that follow one another: memory serves long streams
  // best, however short their rows are. It is an odd number of rows from one to the next, as streams at a distance of a
  // power of two are in each other's way.
  void rows_apart(int count) {
    line(fmt::format("const Int part = ny / {}, apart = part > 64 && part % 2 == 0 ? part - 1 : part;", count));
    rows(count, "apart");
    line(fmt::format("y = {} * apart;", count));
  }

  void rows(int count, const std::string& end) {
    open(fmt::format("for (; y < {}; ++y)", end));
    point_at_rows(count);
    if (sums()) {
      sum_rows(count, "0", "nx");
    } else if (streams()) {
      stream_rows(count);
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
    if (shape_.moves[0]) {
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

  void stream_rows(int count) {
    line(fmt::format("T chunk[{}];", kChunk));
    open(fmt::format("for (Int first = 0; first < nx; first += {})", kChunk));
    line(fmt::format("const Int n = nx - first < {0} ? nx - first : {0};", kChunk));
    for (int r = 0; r < count; ++r) stream_chunk(r, "first");
    close();
  }

  void stream_chunk(int r, const std::string& first) {
    open("for (Int i = 0; i < n; ++i)");
    line(fmt::format("chunk[i] = T({});", value(r, first + " + i")));
    close();
    line(fmt::format("write_past({} + {}, chunk, n);", row(0, r), first));
  }

  // An operand that strides along x and is near along y is turned first: read along y, used along x.
  bool is_turned(size_t o) const { return o > 0 && shape_.x[o] == Pace::Further && shape_.moves[o]; }

  bool turns() const {
    for (size_t o = 1; o < shape_.x.size(); ++o) {
      if (is_turned(o)) return true;
    }
    return false;
  }

  // By shuffles between registers, for types that are lanes of a vector.
  bool turns_squares() const {
    return turns() && type_ != ElementType::ComplexFloat && type_ != ElementType::ComplexDouble;
  }

  void turn(size_t o) {
    if (turns_squares()) {
      open(fmt::format("if (sy{} == 1 && n == TILE && end_y - ty == TILE)", o));
      line(fmt::format("turn_tile(p{0} + tx * sx{0} + ty, sx{0}, turned{0});", o));
      --indent_;
      open("} else");
    }
    open("for (Int x = 0; x < n; ++x)");
    line(fmt::format("const T* __restrict from = p{0} + (tx + x) * sx{0} + ty * sy{0};", o));
    line(fmt::format("for (Int y = 0; y < end_y - ty; ++y) turned{0}[y * ROW + x] = from[y * sy{0}];", o));
    close();
    if (turns_squares()) close();
  }

  // With every row, one of the next tile's of each operand. Such short pieces of far rows end before the machine sees
  // them coming. They go to the second cache: rows whose distance is a power of two would push each other out of the
  // first.
  void ask_for_next_tile() {
    for (size_t o = 0; o < shape_.x.size(); ++o) {
      bool is_read = o > 0 || shape_.accumulate;
      if (is_turned(o)) {
        line(fmt::format("const T* next{0} = p{0} + (next_x + y - ty) * sx{0} + next_y * sy{0};", o));
        line(fmt::format("for (Int l = 0; l < TILE; l += LINE) __builtin_prefetch(next{0} + l * sy{0}, 0, 2);", o));
      } else if (is_read && shape_.x[o] == Pace::Next && shape_.moves[o]) {
        line(fmt::format("for (Int l = 0; l < TILE; l += LINE) __builtin_prefetch({} + end_x + l, 0, 2);", row(o, 0)));
      }
    }
  }

  void tiles() {
    for (size_t o = 0; o < shape_.x.size(); ++o) {
      if (is_turned(o)) line(fmt::format("T turned{}[TILE * ROW];", o));
    }
    if (streams()) line("T chunk[TILE];");
    open("for (Int ty = 0; ty < ny; ty += TILE)");
    line("const Int end_y = ty + TILE < ny ? ty + TILE : ny;");
    open("for (Int tx = 0; tx < nx; tx += TILE)");
    line("const Int end_x = tx + TILE < nx ? tx + TILE : nx;");
    line("const Int n = end_x - tx;");
    if (turns()) {
      line("const bool is_last = end_x == nx;");
      line("const Int next_x = is_last ? 0 : end_x, next_y = is_last && end_y < ny ? end_y : ty;");
    }
    for (size_t o = 0; o < shape_.x.size(); ++o) {
      if (is_turned(o)) turn(o);
    }
    rows_of_tile();
    close();
    close();
  }

  void rows_of_tile() {
    open("for (Int y = ty; y < end_y; ++y)");
    point_at_rows(1);
    if (turns()) ask_for_next_tile();
    if (sums()) {
      sum_rows(1, "tx", "end_x");
    } else if (streams()) {
      stream_chunk(0, "tx");
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

int rows_at_once(bool sums, int64_t moving, bool is_short) { return sums && moving > 1 && !is_short ? 1 : 4; }

bool PlaneShape::operator<(const PlaneShape& other) const {
  return std::tie(x, moves, accumulate, past_cache) <
         std::tie(other.x, other.moves, other.accumulate, other.past_cache);
}

std::string plane_source(const std::vector<LeafTerm>& terms, ElementType type, const PlaneShape& shape) {
  return PlaneWriter(terms, type, shape).run();
}

}  // namespace distal::core
