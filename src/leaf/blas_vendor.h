#pragma once

#include <string>

#include "leaf/shared_library.h"

namespace distal::core {

// What BLASes have beyond the standard, each under names of its own.

// Takes away the threads that a loaded BLAS would start: all threads are the engine's.
void use_one_thread(const SharedLibrary& library);

// Which BLAS it is, and of which version; the file's name where it does not tell.
std::string name_of_blas(const SharedLibrary& library, const std::string& file);

}  // namespace distal::core
