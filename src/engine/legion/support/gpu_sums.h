// Reductions of complex numbers in GPU memory. Legion has those of other types itself. To be compiled by nvcc.
#pragma once

#include <complex>

#include "legion.h"

namespace distal_legion {

template <class Real>
struct GpuComplexSum {
  using LHS = std::complex<Real>;
  using RHS = std::complex<Real>;
  static inline const RHS identity = RHS(0, 0);
  static constexpr bool has_cuda_reductions = true;

  template <bool EXCLUSIVE>
  static void apply(LHS& to, RHS value) {
    Real parts[] = {value.real(), value.imag()};
    for (int i = 0; i < 2; ++i) {
      Legion::SumReduction<Real>::template apply<EXCLUSIVE>(reinterpret_cast<Real*>(&to)[i], parts[i]);
    }
  }
  template <bool EXCLUSIVE>
  static void fold(RHS& to, RHS value) {
    apply<EXCLUSIVE>(to, value);
  }
  template <bool EXCLUSIVE>
  __device__ void apply_cuda(LHS& to, const RHS& value) const {
    Real* sums = reinterpret_cast<Real*>(&to);
    const Real* addends = reinterpret_cast<const Real*>(&value);
    for (int i = 0; i < 2; ++i) {
      if (EXCLUSIVE) {
        sums[i] += addends[i];
      } else {
        atomicAdd(&sums[i], addends[i]);
      }
    }
  }
  template <bool EXCLUSIVE>
  __device__ void fold_cuda(RHS& to, const RHS& value) const {
    apply_cuda<EXCLUSIVE>(to, value);
  }
};

void register_complex_sum(int id, float) { Legion::Runtime::register_reduction_op<GpuComplexSum<float>>(id); }
void register_complex_sum(int id, double) { Legion::Runtime::register_reduction_op<GpuComplexSum<double>>(id); }

}  // namespace distal_legion
