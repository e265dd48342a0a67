#include <fmt/format.h>

#include "cli/options.h"
#include "leaf/blas_library.h"

namespace distal::core {

namespace {

// Programs whose leaves need no BLAS run without one, so that it is missing is no error here.
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
