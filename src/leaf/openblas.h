#pragma once

#include <string>

#include "leaf/shared_library.h"

namespace distal::core {

// How wide the vectors are that kernels of OpenBLAS compute with, or that a CPU can.
enum class Vectors { Narrow, Avx, Avx2, Avx512 };

// What the kernels of that name use, such as "Prescott" or "SkylakeX". A name that is not known here is of a newer CPU,
// and counts as the widest.
Vectors vectors_of_kernels(const std::string& core);

// What this CPU and its system can do.
Vectors vectors_of_cpu();

// The kernels to ask OpenBLAS for on such a CPU when it takes those called `core`; empty if these are good.
std::string better_kernels(const std::string& core, Vectors cpu);

// The name of the kernels that a loaded OpenBLAS uses; empty if the library is none.
std::string kernels_of(const SharedLibrary& library);

// Loads a library that may be OpenBLAS. An OpenBLAS that is older than the CPU does not know it, and takes kernels that
// run on anything; it looks when it is loaded, so it is loaded again and told what to take, unless the user has told
// it. Returns the kernels that it took by itself if others were chosen, else nothing. Whether it is loaded says
// `library`.
std::string load_with_best_kernels(SharedLibrary& library, const std::string& name, Vectors cpu);

}  // namespace distal::core
