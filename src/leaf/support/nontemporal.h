// For code that writes an output larger than the caches. The element type T and Int are defined before this text, which
// the compiler embeds in the code that it compiles.

// Copies with non-temporal stores, which bypass the caches. The unaligned elements at both ends use ordinary stores.
static void copy_nontemporal(T* to, const T* from, Int n) {
  Int x = 0;
#if defined(__AVX512F__) || defined(__AVX__)
#if defined(__AVX512F__)
  enum { BYTES = 64 };
#else
  enum { BYTES = 32 };
#endif
  typedef long long V __attribute__((vector_size(BYTES)));
  typedef long long U __attribute__((vector_size(BYTES), aligned(1), may_alias));
  while (x < n && reinterpret_cast<unsigned long>(to + x) % BYTES != 0) {
    to[x] = from[x];
    ++x;
  }
  for (; x + Int(BYTES / sizeof(T)) <= n; x += BYTES / sizeof(T)) {
    V v = *reinterpret_cast<const U*>(from + x);
    asm volatile("vmovntps %1, %0" : "=m"(*reinterpret_cast<U*>(to + x)) : "x"(v));
  }
#endif
  for (; x < n; ++x) to[x] = from[x];
}
