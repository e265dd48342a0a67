#pragma once

#include <complex>
#include <string>
#include <tuple>
#include <vector>

#include "distal/blas.h"
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

// Loads the first of these libraries that the loader finds. Throws what load_blas throws for the first if it finds
// none.
BlasLibrary load_first_blas(const std::vector<std::string>& names);

// The libraries to load, the first one that is there: $DISTAL_BLAS alone, which is a path or a name for the loader, or
// else the library that the build found and the fallback.
std::vector<std::string> blas_names();

// The BLAS that leaves use. The first call loads it, and may throw like load_blas. It is never unloaded.
const BlasLibrary& blas_library();

// To be called by each thread before its first BLAS call. Throws an Error of kind Resources if the process may not
// allocate the memory that the library needs for each thread. Without this, OpenBLAS repeats the allocation forever.
void require_memory_for_calls();

}  // namespace distal::core
