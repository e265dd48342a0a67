#include <fmt/format.h>

#include "cli/options.h"
#include "leaf/blas_library.h"

namespace distal::core {

namespace {

// A missing BLAS is no error here: programs whose leaves do not need a BLAS run without it.
std::string blas_or_why_not() {
  try {
    return blas_description();
  } catch (const Error& e) {
    return fmt::format("none; {}", e.message());
  }
}

}  // namespace

std::string version_text() { return fmt::format("distal {}\nBLAS: {}", DISTAL_VERSION, blas_or_why_not()); }

}  // namespace distal::core
