#pragma once

#include <complex>
#include <string>
#include <tuple>

#include "leaf/cblas.h"
#include "leaf/openblas.h"
#include "leaf/shared_library.h"

namespace distal::core {

// A BLAS that is loaded at run time. It computes on the calling thread only: the engine provides the parallelism.
struct BlasLibrary {
  SharedLibrary library;
  std::string description;  // "OpenBLAS 0.3.21, SkylakeX kernels"
  std::tuple<Cblas<float>, Cblas<double>, Cblas<std::complex<float>>, Cblas<std::complex<double>>> functions;
};

// Loads a BLAS with the best kernels for this CPU. Throws an Error of kind Resources if the library cannot be loaded,
// has no CBLAS interface or uses 64-bit sizes. Sets environment variables while it loads.
BlasLibrary load_blas(const std::string& name, SimdWidth cpu = simd_width_of_cpu());

// The library to load: $DISTAL_BLAS, which is a path or a name for the loader, or else the library that the build
// found.
std::string blas_name();

// The BLAS that leaves use. The first call loads it, and may throw like load_blas. It is never unloaded.
const BlasLibrary& blas_library();

// To be called by each thread before its first BLAS call. Throws an Error of kind Resources if the process may not
// allocate the memory that the library needs for each thread. Without this, OpenBLAS repeats the allocation forever.
void require_memory_for_calls();

// One line that describes the BLAS of the leaves.
std::string blas_description();

}  // namespace distal::core
