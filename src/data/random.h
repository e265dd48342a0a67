#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

namespace distal::core {

// A random element of a tensor is a pure function of the seed and its position. So every processor fills its own pieces
// without communication, and all engines and grids see the same tensor.

// A bijection of 64-bit words in which every input bit affects every output bit (the finaliser of splitmix64).
constexpr uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

namespace random_detail {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;  // 2^64 over the golden ratio: spreads consecutive indices

// Mixes twice. With one round, seeds that differ by a multiple of kGolden would give shifted copies of one sequence.
constexpr uint64_t bits_at(uint64_t seed, uint64_t index) { return mix_bits(mix_bits(index * kGolden) ^ seed); }

template <class Real>
constexpr Real real_from(uint64_t bits) {
  constexpr int kDigits = std::is_same_v<Real, float> ? 24 : 53;
  constexpr Real kStep = Real(2) / Real(uint64_t{1} << kDigits);
  return static_cast<Real>(bits >> (64 - kDigits)) * kStep - Real(1);
}

}  // namespace random_detail

// Uniform in [-1, 1), for a complex type in both parts. Integers are uniform in -8 ... 8, so that sums of products stay
// exact.
template <class T>
constexpr T random_value(uint64_t seed, int64_t linear_index) {
  uint64_t bits = random_detail::bits_at(seed, static_cast<uint64_t>(linear_index));
  if constexpr (std::is_integral_v<T>) {
    constexpr uint64_t kLargest = 8;
    constexpr uint64_t kValues = 2 * kLargest + 1;
    return static_cast<T>(static_cast<int64_t>(((bits >> 32) * kValues) >> 32) - static_cast<int64_t>(kLargest));
  } else if constexpr (std::is_floating_point_v<T>) {
    return random_detail::real_from<T>(bits);
  } else {
    using Real = typename T::value_type;
    return T(random_detail::real_from<Real>(bits), random_detail::real_from<Real>(mix_bits(~bits)));
  }
}

// The seed of one tensor's data. Different tensors of a run get different data, and so do runs with different seeds.
inline uint64_t tensor_seed(const std::string& name, uint64_t seed) {
  uint64_t hash = mix_bits(seed + random_detail::kGolden);
  for (char c : name) hash = mix_bits(hash ^ static_cast<unsigned char>(c)) + random_detail::kGolden;
  return mix_bits(hash);
}

}  // namespace distal::core
