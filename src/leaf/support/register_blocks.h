// A matrix multiply in register blocks, with FACTORS factors beside the two operands. The element type T and the number
// FACTORS are defined before this text, which the compiler embeds in the code that it compiles. So it includes nothing
// else.
//
// A register block of MR rows by up to NV vectors accumulates the sum. Each term broadcasts one element of the left
// operand per row, and loads whole vectors of the right operand. A larger block would spill registers; a smaller one
// would make the multipliers wait for loads.
#include "leaf/support/blocked_job.h"

typedef long Int;
typedef distal::core::BlockedJob<T> Job;

#if defined(__AVX512F__)
constexpr int BYTES = 64, NV = 4;
#elif defined(__AVX__)
constexpr int BYTES = 32, NV = 2;
#elif defined(__aarch64__)
constexpr int BYTES = 16, NV = 4;
#else
constexpr int BYTES = 16, NV = 2;
#endif
constexpr int MR = 6, W = BYTES / int(sizeof(T)), LINE = 64 / int(sizeof(T));
// When each block of rows is multiplied by all panels in turn: the panels take at most CACHED_BYTES, which fit in a
// cache beside the rows, the sum has at least LONG_SUM terms, and there are at most MOST_PANELS panels.
constexpr int CACHED_BYTES = 256 << 10, LONG_SUM = 128, MOST_PANELS = 32;
// Prefetch distance of packing, in rows, because the hardware does not predict rows that are far apart. Rows are
// prefetched to the second-level cache, because rows at power-of-two strides alias in the first.
constexpr int DISTANCE = 16;
// Panels that are packed together.
constexpr int PACKED_TOGETHER = 8;
typedef T V __attribute__((vector_size(BYTES)));
typedef V Unaligned __attribute__((aligned(sizeof(T)), may_alias));

// A range of columns within one run, and the range of vectors that they are packed in.
struct Panel {
  Int vector, vectors, column, columns;
};

static Int min(Int a, Int b) { return a < b ? a : b; }

// Cuts each run of columns into as few panels as possible, with about equally many vectors in each.
struct Panels {
  Int run, vectors, per_run, count;
  Panels(Int columns, Int run_length)
      : run(run_length), vectors((run + W - 1) / W), per_run((vectors + NV - 1) / NV), count(columns / run * per_run) {}
  Int first_vector(Int panel) const { return panel * (vectors / per_run) + min(panel, vectors % per_run); }
  Panel operator[](Int p) const {
    Int number = p / per_run, begin = first_vector(p % per_run), end = first_vector(p % per_run + 1);
    Int columns = min((end - begin) * W, run - begin * W);
    return {number * vectors + begin, end - begin, number * run + begin * W, columns};
  }
};

static bool is_contiguous(const Int* offset, Int n) {
  for (Int x = 1; x < n; ++x)
    if (offset[x] != offset[0] + x) return false;
  return true;
}

// Packs the terms `first` to `last` of the sum for one panel.
static void pack_panel(const Job& j, const Panel& p, Int first, Int last) {
  T* to = j.packed_right + p.vector * W * j.sums;
  Int n = p.columns, width = p.vectors * W;
  const Int* column = j.right_column + p.column;
  if (j.right_runs_contiguous) {
    for (Int c = 0; c < n; ++c) {
      const T* from = j.right + column[c] + j.right_sum[first];
      for (Int k = first; k < last; ++k) to[k * width + c] = from[k - first];
    }
  } else if (is_contiguous(column, n)) {
    for (Int k = first; k < last; ++k) {
      const T* from = j.right + j.right_sum[k] + column[0];
      const T* later = j.right + j.right_sum[min(k + DISTANCE, j.sums - 1)] + column[0];
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

// Packs neighbouring panels together, a few terms of the sum at a time: this reads longer parts of each row.
static void pack(const Job& j) {
  Panels panels(j.columns, j.column_run);
  const Int steps = j.right_runs_contiguous ? j.runs : (j.sums + DISTANCE - 1) / DISTANCE;
  for (Int p = 0; p < panels.count; p += PACKED_TOGETHER)
    for (Int s = 0; s < steps; ++s) {
      const Int first = j.right_runs_contiguous ? j.run_begin[s] : s * DISTANCE;
      const Int last = j.right_runs_contiguous ? j.run_begin[s + 1] : min(first + DISTANCE, j.sums);
      for (Int x = p; x < min(p + PACKED_TOGETHER, panels.count); ++x) pack_panel(j, panels[x], first, last);
    }
}

// What a block prefetches while it computes. After every 8 terms of its sum it prefetches 8 terms of the next block's
// rows and `lines` cache lines of the next panel. Near the end of its sum it prefetches one row of its own output at a
// time: all at once would stall, and too early they would leave the cache again.
struct Prefetch {
  Int rows;           // elements from this block's rows to the next block's; 0: none
  Int lines;          // cache lines to prefetch from `panel` on
  const char* panel;  // the next panel
  T* output[MR];      // the rows of the output
  Int columns;        // elements in each of them; 0: not contiguous, no prefetch
};
// Terms before the end of the sum at which the prefetch of the output begins. A shorter sum begins with it.
constexpr int OUTPUT_DISTANCE = 96;

// Where a block stores its sums: unscaled to a temporary tile, or times `scale` to the output, which it overwrites or
// adds to.
enum Store { TILE, OVERWRITE, ADD };

static inline void prefetch_output(const Prefetch& prefetch, Int row) {
  for (Int c = 0; c < prefetch.columns; c += LINE) __builtin_prefetch(prefetch.output[row] + c, 1);
  // A row that is not aligned to cache lines ends in one more line.
  if (prefetch.columns) __builtin_prefetch(prefetch.output[row] + prefetch.columns - 1, 1);
}

// Adds one term to the sums of a block.
template <int N>
static inline __attribute__((always_inline)) void add_term(const T* const (&row)[MR], const V* right, Int k,
                                                           V (&sum)[MR][N]) {
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

// The micro-kernel: MR rows by N vectors. Not inlined, so that it has all registers. It adds 8 terms at a time: an
// inner loop without a fixed length costs a tenth of the speed.
template <int N>
__attribute__((noinline)) static void block(Int sums, const T* const* rows, const T* packed, const Prefetch& prefetch,
                                            Store store, T scale, T* tile) {
  const Int next = prefetch.rows, lines = prefetch.lines;
  const char* panel = prefetch.panel;
  V sum[MR][N];
  const T* row[MR];
#pragma GCC unroll 8
  for (int r = 0; r < MR; ++r) {
    row[r] = rows[r];
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) sum[r][c] = V{};
  }
  const V* right = reinterpret_cast<const V*>(packed);
  const Int output_begin = sums > OUTPUT_DISTANCE ? (sums - OUTPUT_DISTANCE) / 8 * 8 : 0;
  auto fetch = [&](Int k) __attribute__((always_inline)) {
    if (next) {
#pragma GCC unroll 8
      for (int r = 0; r < MR; ++r) __builtin_prefetch(row[r] + next + k, 0, 2);
    }
    for (Int x = 0; x < lines; ++x, panel += 64) __builtin_prefetch(panel, 0, 2);
    if (k >= output_begin && k < output_begin + 8 * MR) prefetch_output(prefetch, (k - output_begin) / 8);
  };
  for (Int r = (sums + 7) / 8; r < MR; ++r) prefetch_output(prefetch, r);
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
    Unaligned* out = reinterpret_cast<Unaligned*>(prefetch.output[r]);
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) {
      if (store == TILE) reinterpret_cast<V*>(tile)[r * N + c] = sum[r][c];
      if (store == OVERWRITE) out[c] = scale * sum[r][c];
      if (store == ADD) out[c] += scale * sum[r][c];
    }
  }
}

static void run_block(Int vectors, Int sums, const T* const* rows, const T* packed, const Prefetch& prefetch,
                      Store store, T scale, T* tile) {
  switch (vectors) {
    case 1: return block<1>(sums, rows, packed, prefetch, store, scale, tile);
    case 2: return block<2>(sums, rows, packed, prefetch, store, scale, tile);
#if defined(__AVX512F__) || defined(__aarch64__)
    case 3: return block<3>(sums, rows, packed, prefetch, store, scale, tile);
    case 4: return block<4>(sums, rows, packed, prefetch, store, scale, tile);
#endif
  }
}

// Finds the rows of a block: n rows from row i on. The last row stands in for the missing ones. Returns the distance to
// the next block's rows, or 0 if there is nothing to prefetch.
static Int rows_of(const Job& j, Int i, Int n, const T** rows) {
  if (!j.left_contiguous) {
    for (Int r = 0; r < MR; ++r) rows[r] = j.packed_left + (i + min(r, n - 1)) * j.sums;
    return 0;
  }
  for (Int r = 0; r < MR; ++r) rows[r] = j.left + j.left_row[i + min(r, n - 1)] + j.left_sum[0];
  return i + MR < j.rows ? j.left_row[i + MR] - j.left_row[i] : 0;
}

// The prefetch of panel p + 1, spread evenly over the blocks of panel p. Each block has `steps` groups of 8 terms.
static Prefetch next_panel(const Job& j, const Panels& panels, Int p, Int steps) {
  Prefetch out = {};
  if (p + 1 == panels.count) return out;
  const Panel next = panels[p + 1];
  const Int shares = (j.rows + MR - 1) / MR * steps, lines = next.vectors * BYTES * j.sums / 64;
  out.lines = (lines + shares - 1) / shares;
  out.panel = reinterpret_cast<const char*>(j.packed_right + next.vector * W * j.sums);
  return out;
}

// Packs the rows of the left operand, if they are not contiguous.
static void pack_rows(const Job& j) {
  if (j.left_runs_contiguous) {
    for (Int r = 0; r < j.rows; ++r)
      for (Int x = 0; x < j.runs; ++x) {
        const Int first = j.run_begin[x], n = j.run_begin[x + 1] - first;
        const T* from = j.left + j.left_row[r] + j.left_sum[first];
        T* to = j.packed_left + r * j.sums + first;
        for (Int k = 0; k < n; ++k) to[k] = from[k];
      }
    return;
  }
  // Neighbouring rows may share cache lines, so 8 of them are packed together.
  for (Int i = 0; i < j.rows; i += 8)
    for (Int k = 0; k < j.sums; ++k)
      for (Int r = i; r < min(j.rows, i + 8); ++r)
        j.packed_left[r * j.sums + k] = j.left[j.left_row[r] + j.left_sum[k]];
}

// A panel, and whether its columns are contiguous in the output and in each factor.
struct PanelLayout {
  Panel panel;
  bool contiguous, factor_contiguous[FACTORS + 1];
};

static PanelLayout layout_of(const Job& j, const Panel& panel) {
  PanelLayout out = {panel, is_contiguous(j.output_column + panel.column, panel.columns), {}};
  for (int f = 0; f < FACTORS; ++f)
    out.factor_contiguous[f] = is_contiguous(j.factor_column[f] + panel.column, panel.columns);
  return out;
}

// The rows of the factors beside one row of a tile. A factor whose columns are not contiguous is packed first.
struct FactorRows {
  const T* row[FACTORS + 1];
  T buffer[FACTORS + 1][NV * W];

  void find(const Job& j, Int number, const PanelLayout& layout) {
    const Int first = layout.panel.column, n = layout.panel.columns;
    for (int f = 0; f < FACTORS; ++f) {
      const T* from = j.factor[f] + j.factor_row[f][number];
      const Int* column = j.factor_column[f] + first;
      row[f] = layout.factor_contiguous[f] ? from + column[0] : buffer[f];
      if (layout.factor_contiguous[f]) continue;
      for (Int c = 0; c < n; ++c) buffer[f][c] = from[column[c]];
    }
  }
};

// The value times column c of the first N factors.
template <int N>
static inline __attribute__((always_inline)) T times_factors(T value, const T* const* row, Int c) {
  if constexpr (N == 0)
    return value;
  else
    return times_factors<N - 1>(value, row, c) * row[N - 1][c];
}

// Multiplies one row of a tile by the scale and the factors, and stores it in the output.
static void finish(const Job& j, Int row, const PanelLayout& layout, const T* tile, FactorRows& factors) {
  const Int first = layout.panel.column, n = layout.panel.columns;
  T* out = j.output + j.output_row[row];
  const Int* column = j.output_column + first;
  const T scale = *j.scale;
  factors.find(j, row, layout);
  const T* f[FACTORS + 1];
#pragma GCC unroll 8
  for (int x = 0; x < FACTORS; ++x) f[x] = factors.row[x];
  auto product = [&](Int c) __attribute__((always_inline)) { return times_factors<FACTORS>(scale * tile[c], f, c); };
  if (layout.contiguous && j.overwrite) {
    out += column[0];
    for (Int c = 0; c < n; ++c) out[c] = product(c);
  } else if (layout.contiguous) {
    out += column[0];
    for (Int c = 0; c < n; ++c) out[c] += product(c);
  } else if (j.overwrite) {
    for (Int c = 0; c < n; ++c) out[column[c]] = product(c);
  } else {
    for (Int c = 0; c < n; ++c) out[column[c]] += product(c);
  }
}

// Carries out a job.
static void multiply(const Job& j) {
  if (j.pack_only) return pack(j);
  Panels panels(j.columns, j.column_run);
  alignas(64) T tile[MR * NV * W];
  FactorRows factors;
  if (!j.left_contiguous) pack_rows(j);
  // If all panels stay in the cache, each block of rows is read once and multiplied by all of them. Otherwise each
  // panel is read once and multiplied by all rows.
  const bool cached =
      j.columns * j.sums * Int(sizeof(T)) <= CACHED_BYTES && j.sums >= LONG_SUM && panels.count <= MOST_PANELS;
  const Int panel_group = cached ? panels.count : 1, row_group = cached ? MR : j.rows, steps = (j.sums + 7) / 8;
  for (Int p0 = 0; p0 < panels.count; p0 += panel_group) {
    PanelLayout layouts[MOST_PANELS];
    for (Int p = 0; p < panel_group; ++p) layouts[p] = layout_of(j, panels[p0 + p]);
    Prefetch prefetch = cached ? Prefetch() : next_panel(j, panels, p0, steps);
    for (Int g = 0; g < j.rows; g += row_group)
      for (Int p = 0; p < panel_group; ++p)
        for (Int i = g; i < min(j.rows, g + row_group); i += MR) {
          const Panel& panel = layouts[p].panel;
          const Int n = min(MR, j.rows - i);
          const T* rows[MR];
          const Int next = rows_of(j, i, n, rows);
          prefetch.rows = p0 == 0 && p == panel_group - 1 ? next : 0;
          prefetch.columns = layouts[p].contiguous ? panel.columns : 0;
          for (Int r = 0; r < MR; ++r)
            prefetch.output[r] = j.output + j.output_row[i + min(r, n - 1)] + j.output_column[panel.column];
          const bool direct = FACTORS == 0 && layouts[p].contiguous && n == MR && panel.columns == panel.vectors * W;
          const Store store = !direct ? TILE : j.overwrite ? OVERWRITE : ADD;
          const T* packed = j.packed_right + panel.vector * W * j.sums;
          run_block(panel.vectors, j.sums, rows, packed, prefetch, store, *j.scale, tile);
          prefetch.panel += prefetch.lines * steps * 64;
          for (Int r = 0; store == TILE && r < n; ++r)
            finish(j, i + r, layouts[p], tile + r * panel.vectors * W, factors);
        }
  }
}
