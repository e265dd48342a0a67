#pragma once

#include <complex>
#include <string>
#include <tuple>

#include "leaf/cblas.h"
#include "leaf/openblas.h"
#include "leaf/shared_library.h"

namespace distal::core {

// A BLAS that was loaded when the program ran. It has one thread: the engine's threads are the parallelism.
struct BlasLibrary {
  SharedLibrary library;
  std::string description;  // "OpenBLAS 0.3.21, SkylakeX kernels"
  std::tuple<Cblas<float>, Cblas<double>, Cblas<std::complex<float>>, Cblas<std::complex<double>>> functions;
};

// Loads a BLAS with the best kernels for such a CPU. An Error of kind Resources if there is none, or not what is
// needed. Sets variables of the environment while it loads.
BlasLibrary load_blas(const std::string& name, Vectors cpu = vectors_of_cpu());

// The library to load: $DISTAL_BLAS, a path or a name that the loader looks for, or else what the build was given.
std::string blas_name();

// The BLAS that leaves use. Loaded at the first call, which may throw as above, and then for good.
const BlasLibrary& blas_library();

// Refuses to call a BLAS from one more thread where the process may not have the memory that a library takes for each,
// by an Error of kind Resources: OpenBLAS asks for it again and again until it is given.
void require_room_for_calls();

// Which BLAS leaves use, in one line.
std::string blas_description();

}  // namespace distal::core
