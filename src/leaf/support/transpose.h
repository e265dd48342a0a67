// For code that transposes tiles: TILE rows and columns, and rows of ROW elements in the copy. The element type T, Int,
// TILE and ROW are defined before this text, which the compiler embeds in the code that it compiles.

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

// The lanes 0 to N - 1, as template arguments.
template <int...>
struct Lanes {};
template <int N, int... l>
struct MakeLanes : MakeLanes<N - 1, N - 1, l...> {};
template <int... l>
struct MakeLanes<0, l...> {
  typedef Lanes<l...> type;
};

// Transposes a square of LANES vectors: swaps the D by D squares across the diagonal, then transposes within each
// square.
template <int D, int... l>
static inline __attribute__((always_inline)) void swap_squares(V* row, Lanes<l...> lanes) {
#pragma GCC unroll 16
  for (int i = 0; i < LANES; ++i) {
    if (i & D) continue;
    V a = row[i], b = row[i + D];
    row[i] = __builtin_shufflevector(a, b, (l & D ? LANES + l - D : l)...);
    row[i + D] = __builtin_shufflevector(a, b, (l & D ? LANES + l : l + D)...);
  }
  if constexpr (D > 1) swap_squares<D / 2>(row, lanes);
}

// Transposes a whole tile.
static void transpose_tile(const T* from, Int step, T* to) {
  for (Int x = 0; x < TILE; x += LANES)
    for (Int y = 0; y < TILE; y += LANES) {
      V row[LANES];
#pragma GCC unroll 16
      for (int i = 0; i < LANES; ++i) row[i] = *reinterpret_cast<const U*>(from + (x + i) * step + y);
      swap_squares<LANES / 2>(row, typename MakeLanes<LANES>::type());
#pragma GCC unroll 16
      for (int i = 0; i < LANES; ++i) *reinterpret_cast<U*>(to + (y + i) * ROW + x) = row[i];
    }
}
