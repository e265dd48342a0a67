#pragma once

#include <string>

namespace distal {

// Names a shared library with CBLAS for leaves to use where the BLAS that the build found is not installed. The
// environment variable DISTAL_BLAS goes before both. Call it before the first run.
void set_fallback_blas(const std::string& library);

// One line that describes the BLAS of leaves, such as "OpenBLAS 0.3.21, SkylakeX kernels". Throws an Error of kind
// Resources if there is none.
std::string blas_description();

}  // namespace distal
