#pragma once

#include <string>

#include "leaf/shared_library.h"

namespace distal::core {

// Functions that a BLAS has beyond the standard, under names of its vendor.

// Makes a loaded BLAS compute on the calling thread only, because the engine provides all threads.
void use_one_thread(const SharedLibrary& library);

// The name and version of the BLAS; the file name if the library does not report them.
std::string name_of_blas(const SharedLibrary& library, const std::string& file);

}  // namespace distal::core
