#include "leaf/blocked_source.h"

#include <fmt/format.h>

#include "leaf/cpp_text.h"

namespace distal::core {

namespace {

// A block of MR rows and up to NV vectors of columns stays in registers while the sum runs: of an element of the left
// operand every lane gets a copy, of the right operand whole vectors are read. More rows and vectors than registers
// would spill; fewer leave the multipliers waiting for the loads.
constexpr char kHead[] = R"(typedef long Int;
struct Job {
  Int rows, columns, sums;
  const T* left; const Int *left_row, *left_sum;
  const T* right; const Int *right_sum, *right_column;
  T* output; const Int *output_row, *output_column;
  const T* const* factor; const Int *const *factor_row, *const *factor_column;
  const T* scale;
  T *packed, *line;
  Int runs;
  const Int* run;
  Int left_in_line, left_by_one, right_by_column, pack_only, column_run, begin;
};

#if defined(__AVX512F__)
enum { BYTES = 64, NV = 4 };
#elif defined(__AVX__)
enum { BYTES = 32, NV = 2 };
#elif defined(__aarch64__)
enum { BYTES = 16, NV = 4 };
#else
enum { BYTES = 16, NV = 2 };
#endif
enum { MR = 6, W = BYTES / sizeof(T), LINE = 64 / sizeof(T) };
// Bytes that a cache holds beside the rows, the fewest terms of a sum that make up for it, and the most panels.
enum { NEAR = 256 << 10, LONG = 128, TOGETHER = 32 };
// Pieces of rows that are packed lie far apart, so nobody but us knows which one comes so many later (it is brought to
// the second cache: at a distance of a power of two so many would push each other out of the first); panels beside each
// other that are packed together.
enum { SOON = 16, BESIDE = 8 };
typedef T V __attribute__((vector_size(BYTES)));
typedef V Anywhere __attribute__((aligned(sizeof(T)), may_alias));  // not at a multiple of its bytes

// Some columns of one run, and the vectors that they are packed in.
struct Panel {
  Int vector, vectors, column, columns;
};

// The vectors of a run of columns, dealt out evenly to as few panels as there must be.
struct Panels {
  Int run, vectors, each, count;
  Panels(Int columns, Int run)
      : run(run), vectors((run + W - 1) / W), each((vectors + NV - 1) / NV), count(columns / run * each) {}
  Int first(Int panel) const { return panel * (vectors / each) + (panel < vectors % each ? panel : vectors % each); }
  Panel operator[](Int p) const {
    Int whole = p / each, begin = first(p % each), end = first(p % each + 1), left = run - begin * W;
    Int columns = (end - begin) * W;
    return {whole * vectors + begin, end - begin, whole * run + begin * W, columns < left ? columns : left};
  }
};

static bool in_line(const Int* offset, Int n) {
  for (Int x = 1; x < n; ++x) if (offset[x] != offset[0] + x) return false;
  return true;
}

static Int least(Int a, Int b) { return a < b ? a : b; }

static void pack_panel(const Job& j, const Panel& p, Int first, Int last) {
  T* to = j.packed + p.vector * W * j.sums;
  Int n = p.columns, width = p.vectors * W;
  const Int* column = j.right_column + p.column;
  if (j.right_by_column) {
    for (Int c = 0; c < n; ++c) {
      const T* from = j.right + column[c] + j.right_sum[first];
      for (Int k = first; k < last; ++k) to[k * width + c] = from[k - first];
    }
  } else if (in_line(column, n)) {
    for (Int k = first; k < last; ++k) {
      const T* from = j.right + j.right_sum[k] + column[0];
      const T* later = j.right + j.right_sum[least(k + SOON, j.sums - 1)] + column[0];
      for (Int c = 0; c < n; c += LINE) __builtin_prefetch(later + c, 0, 2);
      for (Int c = 0; c < n; ++c) to[k * width + c] = from[c];
    }
  } else {
    for (Int k = first; k < last; ++k) {
      const T* from = j.right + j.right_sum[k];
      for (Int c = 0; c < n; ++c) to[k * width + c] = from[column[c]];
    }
  }
  for (Int k = first; n < width && k < last; ++k)
    for (Int c = n; c < width; ++c) to[k * width + c] = 0;
}

// Some panels side by side, so that longer pieces of the rows are read, and few terms of all of them in turn.
static void pack(const Job& j) {
  Panels panels(j.columns, j.column_run);
  const Int steps = j.right_by_column ? j.runs : (j.sums + SOON - 1) / SOON;
  for (Int p = 0; p < panels.count; p += BESIDE)
    for (Int s = 0; s < steps; ++s) {
      const Int first = j.right_by_column ? j.run[s] : s * SOON;
      const Int last = j.right_by_column ? j.run[s + 1] : least(first + SOON, j.sums);
      for (Int x = p; x < least(p + BESIDE, panels.count); ++x) pack_panel(j, panels[x], first, last);
    }
}

// What is fetched while a block is made: its rows are `rows` elements before those of the next block (0: not known);
// every 8 terms of its sum bring `lines` cache lines from `panel` on, a share of the panel that comes next, and a row of
// its part of the output, `columns` elements each (0: not known). All at once would wait for one another; and what is
// fetched long before the sum ends is no longer near then.
struct Ahead {
  Int rows, lines;
  const char* panel;
  T* output[MR];
  Int columns;
};
// Terms before the end of a sum at which the first row of the output is fetched; a shorter sum begins with it.
enum { LATE = 96 };

// Where the sums of a block go: times `scale` straight to the output, which they begin or add to, or into a tile.
enum Goal { TILE, BEGIN, ADD };

static inline void fetch_output(const Ahead& ahead, Int row) {
  for (Int c = 0; c < ahead.columns; c += LINE) __builtin_prefetch(ahead.output[row] + c, 1);
  // A row that does not begin with a cache line ends in one more.
  if (ahead.columns) __builtin_prefetch(ahead.output[row] + ahead.columns - 1, 1);
}

// One term of the sums of a block.
template <int N>
static inline __attribute__((always_inline)) void add_term(const T* const (&row)[MR], const V* right, Int k, V (&sum)[MR][N]) {
  V v[N];
#pragma GCC unroll 8
  for (int c = 0; c < N; ++c) v[c] = right[k * N + c];
#pragma GCC unroll 8
  for (int r = 0; r < MR; ++r) {
    V s = row[r][k] - V{};
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) sum[r][c] += s * v[c];
  }
}

// The block itself. A function of its own, so that all registers are its own. Terms go by a fixed number: a loop of a
// length that is not known costs a tenth of the speed.
template <int N>
__attribute__((noinline)) static void block(Int sums, const T* const* rows, const T* packed, const Ahead& ahead, Goal goal,
                                            T scale, T* tile) {
  const Int next = ahead.rows, lines = ahead.lines;
  const char* panel = ahead.panel;
  V sum[MR][N];
  const T* row[MR];
#pragma GCC unroll 8
  for (int r = 0; r < MR; ++r) {
    row[r] = rows[r];
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) sum[r][c] = V{};
  }
  const V* right = reinterpret_cast<const V*>(packed);
  const Int late = sums > LATE ? (sums - LATE) / 8 * 8 : 0;
  auto fetch = [&](Int k) __attribute__((always_inline)) {
    if (next) {
#pragma GCC unroll 8
      for (int r = 0; r < MR; ++r) __builtin_prefetch(row[r] + next + k, 0, 2);
    }
    for (Int x = 0; x < lines; ++x, panel += 64) __builtin_prefetch(panel, 0, 2);
    if (k >= late && k < late + 8 * MR) fetch_output(ahead, (k - late) / 8);
  };
  for (Int r = (sums + 7) / 8; r < MR; ++r) fetch_output(ahead, r);
  Int k = 0;
  for (; k + 8 <= sums; k += 8) {
    fetch(k);
#pragma GCC unroll 2
    for (Int t = k; t < k + 8; ++t) add_term<N>(row, right, t, sum);
  }
  if (k < sums) fetch(k);
#pragma GCC unroll 1
  for (; k < sums; ++k) add_term<N>(row, right, k, sum);
#pragma GCC unroll 8
  for (int r = 0; r < MR; ++r) {
    Anywhere* out = reinterpret_cast<Anywhere*>(ahead.output[r]);
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) {
      if (goal == TILE) reinterpret_cast<V*>(tile)[r * N + c] = sum[r][c];
      if (goal == BEGIN) out[c] = scale * sum[r][c];
      if (goal == ADD) out[c] += scale * sum[r][c];
    }
  }
}

static void run_block(Int vectors, Int sums, const T* const* rows, const T* packed, const Ahead& ahead, Goal goal, T scale,
                      T* tile) {
  switch (vectors) {
    case 1: return block<1>(sums, rows, packed, ahead, goal, scale, tile);
    case 2: return block<2>(sums, rows, packed, ahead, goal, scale, tile);
#if defined(__AVX512F__) || defined(__aarch64__)
    case 3: return block<3>(sums, rows, packed, ahead, goal, scale, tile);
    case 4: return block<4>(sums, rows, packed, ahead, goal, scale, tile);
#endif
  }
}

// The rows of a block, n of them from the i-th on; the last one stands in for those that are missing. Says how far the
// next block's are.
static Int rows_of(const Job& j, Int i, Int n, const T** rows) {
  if (!j.left_in_line) {
    for (Int r = 0; r < MR; ++r) rows[r] = j.line + (i + least(r, n - 1)) * j.sums;
    return 0;
  }
  for (Int r = 0; r < MR; ++r) rows[r] = j.left + j.left_row[i + least(r, n - 1)] + j.left_sum[0];
  return i + MR < j.rows ? j.left_row[i + MR] - j.left_row[i] : 0;
}

// The panel behind the p-th, dealt out to the blocks of the p-th, each of which has so many steps to bring some of it.
static Ahead next_panel(const Job& j, const Panels& panels, Int p, Int steps) {
  Ahead out = {};
  if (p + 1 == panels.count) return out;
  const Panel next = panels[p + 1];
  const Int shares = (j.rows + MR - 1) / MR * steps, lines = next.vectors * BYTES * j.sums / 64;
  out.lines = (lines + shares - 1) / shares;
  out.panel = reinterpret_cast<const char*>(j.packed + next.vector * W * j.sums);
  return out;
}

// Brings rows that are not in one piece together.
static void pack_rows(const Job& j) {
  if (j.left_by_one) {
    for (Int r = 0; r < j.rows; ++r)
      for (Int x = 0; x < j.runs; ++x) {
        const Int first = j.run[x], n = j.run[x + 1] - first;
        const T* from = j.left + j.left_row[r] + j.left_sum[first];
        T* to = j.line + r * j.sums + first;
        for (Int k = 0; k < n; ++k) to[k] = from[k];
      }
    return;
  }
  // Rows side by side may share cache lines.
  for (Int i = 0; i < j.rows; i += 8)
    for (Int k = 0; k < j.sums; ++k)
      for (Int r = i; r < least(j.rows, i + 8); ++r) j.line[r * j.sums + k] = j.left[j.left_row[r] + j.left_sum[k]];
}
)";

// The tile goes to the output: `product` is the text of what is added at column c.
constexpr char kTail[] = R"(
enum {{ FACTORS = {factors} }};  // beside the two

// A panel, and whether its columns are in one piece in the output and in every factor.
struct Place {{
  Panel panel;
  bool line{flags};
}};

static Place place_of(const Job& j, const Panel& panel) {{
  return {{panel, in_line(j.output_column + panel.column, panel.columns){lines}}};
}}

static void finish(const Job& j, Int row, const Place& place, const T* tile{parameters}) {{
  const Int first = place.panel.column, n = place.panel.columns;
  const bool line = place.line;
  T* out = j.output + j.output_row[row];
  const Int* column = j.output_column + first;
  const T scale = *j.scale;
{pointers}  if (line && j.begin) {{
    out += column[0];
    for (Int c = 0; c < n; ++c) out[c] = {product};
  }} else if (line) {{
    out += column[0];
    for (Int c = 0; c < n; ++c) out[c] += {product};
  }} else if (j.begin) {{
    for (Int c = 0; c < n; ++c) out[column[c]] = {product};
  }} else {{
    for (Int c = 0; c < n; ++c) out[column[c]] += {product};
  }}
}}

extern "C" void leaf(const Job* job) {{
  const Job& j = *job;
  if (j.pack_only) return pack(j);
  Panels panels(j.columns, j.column_run);
  alignas(64) T tile[MR * NV * W];
{rooms}  if (!j.left_in_line) pack_rows(j);
  // Panels that all stay near are used one after the other for a block of rows, which is then read but once.
  const bool near = j.columns * j.sums * Int(sizeof(T)) <= NEAR && j.sums >= LONG && panels.count <= TOGETHER;
  const Int together = near ? panels.count : 1, group = near ? MR : j.rows, steps = (j.sums + 7) / 8;
  for (Int p0 = 0; p0 < panels.count; p0 += together) {{
    Place places[TOGETHER];
    for (Int p = 0; p < together; ++p) places[p] = place_of(j, panels[p0 + p]);
    Ahead ahead = near ? Ahead() : next_panel(j, panels, p0, steps);
    for (Int g = 0; g < j.rows; g += group)
      for (Int p = 0; p < together; ++p)
        for (Int i = g; i < least(j.rows, g + group); i += MR) {{
          const Panel& panel = places[p].panel;
          const Int n = least(MR, j.rows - i);
          const T* rows[MR];
          const Int next = rows_of(j, i, n, rows);
          ahead.rows = p0 == 0 && p == together - 1 ? next : 0;
          ahead.columns = places[p].line ? panel.columns : 0;
          for (Int r = 0; r < MR; ++r)
            ahead.output[r] = j.output + j.output_row[i + least(r, n - 1)] + j.output_column[panel.column];
          const bool straight = FACTORS == 0 && places[p].line && n == MR && panel.columns == panel.vectors * W;
          const Goal goal = !straight ? TILE : j.begin ? BEGIN : ADD;
          run_block(panel.vectors, j.sums, rows, j.packed + panel.vector * W * j.sums, ahead, goal, *j.scale, tile);
          ahead.panel += ahead.lines * steps * 64;
          for (Int r = 0; goal == TILE && r < n; ++r) finish(j, i + r, places[p], tile + r * panel.vectors * W{arguments});
        }}
  }}
}}
)";

}  // namespace

std::string blocked_source(ElementType type, int factors) {
  std::string product = "scale * tile[c]", parameters, arguments, pointers, rooms, lines, flags;
  for (int f = 0; f < factors; ++f) {
    product += fmt::format(" * f{}[c]", f);
    parameters += fmt::format(", T* room{0}", f);
    arguments += fmt::format(", room{0}", f);
    flags += fmt::format(", line{0}", f);
    rooms += fmt::format("  T room{}[NV * W];\n", f);
    lines += fmt::format(",\n          in_line(j.factor_column[{0}] + panel.column, panel.columns)", f);
    // A factor that is not in one piece along the columns is brought together first.
    pointers += fmt::format(
        "  const T* f{0} = j.factor[{0}] + j.factor_row[{0}][row];\n"
        "  if (place.line{0}) {{\n    f{0} += j.factor_column[{0}][first];\n  }} else {{\n"
        "    for (Int c = 0; c < n; ++c) room{0}[c] = f{0}[j.factor_column[{0}][first + c]];\n    f{0} = room{0};\n"
        "  }}\n",
        f);
  }
  return fmt::format("// A product in register blocks, times {} more\ntypedef {} T;\n", factors,
                     is_integer(type) ? (size_of(type) == 4 ? "unsigned" : "unsigned long") : cpp_type(type)) +
         kHead +
         fmt::format(kTail, fmt::arg("parameters", parameters), fmt::arg("pointers", pointers),
                     fmt::arg("product", product), fmt::arg("rooms", rooms), fmt::arg("lines", lines),
                     fmt::arg("flags", flags), fmt::arg("arguments", arguments), fmt::arg("factors", factors));
}

}  // namespace distal::core
