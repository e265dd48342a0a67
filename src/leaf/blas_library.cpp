#include "leaf/blas_library.h"

#include <fmt/format.h>

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <mutex>
#include <type_traits>

#include "leaf/blas_vendor.h"
#include "support/environment.h"
#include "support/error.h"
#include "support/text.h"

namespace distal::core {

namespace {

constexpr const char* kHelp =
    "install OpenBLAS (Debian's package libopenblas0-pthread), set DISTAL_BLAS to a shared library with CBLAS, or run "
    "with --leaf generated to go without";

[[noreturn]] void fail(const std::string& message) { throw Error(message, {}, kHelp, Error::Kind::Resources); }

template <class T>
void find_functions(const SharedLibrary& library, const std::string& file, char letter, Cblas<T>& out) {
  constexpr bool kReal = std::is_floating_point_v<T>;
  auto find = [&](auto& function, const char* name) {
    std::string full = fmt::format("cblas_{}{}", letter, name);
    function = library.find<std::remove_reference_t<decltype(function)>>(full);
    if (!function) fail(fmt::format("{} is not a BLAS with the CBLAS interface: it has no function {}", file, full));
  };
  find(out.gemm, "gemm");
  find(out.syrk, "syrk");
  find(out.gemv, "gemv");
  find(out.ger, kReal ? "ger" : "geru");
  find(out.axpy, "axpy");
  find(out.dot, kReal ? "dot" : "dotu_sub");
}

// Some libraries use the same function names with 64-bit sizes (ILP64). Such a library reads a negative size here, and
// returns 0. A library with 32-bit sizes reads the lower half, which is 1, and returns 1.
bool has_32_bit_sizes(const SharedLibrary& library) {
  using Wide = double (*)(int64_t n, const double* x, int64_t incx, const double* y, int64_t incy);
  const double one = 1;
  return library.find<Wide>("cblas_ddot")(std::numeric_limits<int64_t>::min() + 1, &one, 1, &one, 1) == 1;
}

std::string describe(const BlasLibrary& blas, const std::string& file, const std::string& default_kernels) {
  std::string out = name_of_blas(blas.library, file);
  std::string kernels = kernels_of(blas.library);
  if (!kernels.empty()) out += fmt::format(", {} kernels", kernels);
  if (!default_kernels.empty()) out += fmt::format(" (chosen by DISTAL; default: {})", default_kernels);
  return out;
}

}  // namespace

BlasLibrary load_blas(const std::string& name, SimdWidth cpu) {
  // Keeps the library from starting a thread pool of its own when it is loaded or first called.
  ScopedVariable openblas("OPENBLAS_NUM_THREADS", "1"), mkl("MKL_NUM_THREADS", "1"), blis("BLIS_NUM_THREADS", "1");
  BlasLibrary out;
  std::string default_kernels = load_with_best_kernels(out.library, name, cpu);
  if (!out.library.loaded()) fail(fmt::format("cannot load a BLAS: {}", out.library.error()));
  find_functions(out.library, name, 's', std::get<Cblas<float>>(out.functions));
  find_functions(out.library, name, 'd', std::get<Cblas<double>>(out.functions));
  find_functions(out.library, name, 'c', std::get<Cblas<std::complex<float>>>(out.functions));
  find_functions(out.library, name, 'z', std::get<Cblas<std::complex<double>>>(out.functions));
  use_one_thread(out.library);
  if (!has_32_bit_sizes(out.library)) {
    fail(fmt::format("{} uses 64-bit sizes, but DISTAL needs a BLAS with 32-bit sizes", name));
  }
  out.description = describe(out, name, default_kernels);
  return out;
}

void require_memory_for_calls() {
  constexpr size_t kBytes = size_t{160} << 20;  // OpenBLAS allocates 128 MiB for each thread, and some more
  static std::mutex mutex;
  static size_t threads = 0;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  std::lock_guard lock(mutex);
  // Earlier threads may not have allocated their memory yet, so ask for theirs too.
  size_t bytes = ++threads * kBytes;
  if (void* memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); memory != MAP_FAILED) {
    munmap(memory, bytes);
    return;
  }
  throw Error(fmt::format("each thread that calls BLAS needs 160 MiB, but this process is limited to {}",
                          bytes_in_full(static_cast<int64_t>(limit.rlim_cur))),
              {}, "raise the limit (ulimit -v), or run with fewer threads or with --leaf generated",
              Error::Kind::Resources);
}

BlasLibrary load_first_blas(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    try {
      return load_blas(name);
    } catch (const Error&) {
      if (std::filesystem::exists(name) || &name == &names.back()) break;
    }
  }
  return load_blas(names.front());
}

namespace {

std::string& fallback() {
  static std::string& library = *new std::string;
  return library;
}

}  // namespace

std::vector<std::string> blas_names() {
  if (const char* chosen = std::getenv("DISTAL_BLAS"); chosen && *chosen) return {chosen};
  // If the path of the build machine does not exist here, the loader searches for the file name.
  std::filesystem::path built_with = DISTAL_BLAS_LIBRARY;
  std::vector<std::string> out{std::filesystem::exists(built_with) ? built_with.string()
                                                                   : built_with.filename().string()};
  if (!fallback().empty()) out.push_back(fallback());
  return out;
}

const BlasLibrary& blas_library() {
  // Never unloaded, because threads may still compute when the program ends.
  static const BlasLibrary& library = *new BlasLibrary(load_first_blas(blas_names()));
  return library;
}

}  // namespace distal::core

namespace distal {

void set_fallback_blas(const std::string& library) { core::fallback() = library; }

std::string blas_description() { return core::blas_library().description; }

}  // namespace distal
