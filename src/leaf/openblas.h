#pragma once

#include <string>

#include "leaf/shared_library.h"

namespace distal::core {

// The vector instructions that OpenBLAS kernels use, or that a CPU has. Narrow: less than AVX.
enum class SimdWidth { Narrow, Avx, Avx2, Avx512 };

// The vector width of the kernels with this name, such as "Prescott" or "SkylakeX". An unknown name belongs to a newer
// CPU, and counts as the widest.
SimdWidth simd_width_of_kernels(const std::string& core);

// The vector width that this CPU and its operating system support.
SimdWidth simd_width_of_cpu();

// The kernels to request for a CPU instead of those called `core`; empty if `core` is good enough.
std::string better_kernels(const std::string& core, SimdWidth cpu);

// The name of the kernels that a loaded OpenBLAS uses; empty if the library is not OpenBLAS.
std::string kernels_of(const SharedLibrary& library);

// Loads a library that may be OpenBLAS, with kernels that match the CPU. An OpenBLAS that is older than the CPU does
// not recognise it, and selects slow generic kernels. It selects them while it is loaded, so it is loaded again with
// $OPENBLAS_CORETYPE, unless the user has set that. Returns the default kernels if others were requested, else nothing.
// If the load fails, `library` says so.
std::string load_with_best_kernels(SharedLibrary& library, const std::string& name, SimdWidth cpu);

}  // namespace distal::core
