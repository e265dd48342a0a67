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
    if (!function) fail(fmt::format("{} is no BLAS with CBLAS: it has no function {}", file, full));
  };
  find(out.gemm, "gemm");
  find(out.syrk, "syrk");
  find(out.gemv, "gemv");
  find(out.ger, kReal ? "ger" : "geru");
  find(out.axpy, "axpy");
  find(out.dot, kReal ? "dot" : "dotu_sub");
}

// Some libraries have the same names for functions with sizes of 64 bits. These see a number below 0 here, for which
// there is nothing to add; the others see its lower half, which is 1.
bool takes_sizes_of_32_bits(const SharedLibrary& library) {
  using Wide = double (*)(int64_t n, const double* x, int64_t incx, const double* y, int64_t incy);
  const double one = 1;
  return library.find<Wide>("cblas_ddot")(std::numeric_limits<int64_t>::min() + 1, &one, 1, &one, 1) == 1;
}

std::string describe(const BlasLibrary& blas, const std::string& file, const std::string& own_kernels) {
  std::string out = name_of_blas(blas.library, file);
  std::string kernels = kernels_of(blas.library);
  if (!kernels.empty()) out += fmt::format(", {} kernels", kernels);
  if (!own_kernels.empty()) out += fmt::format(" (chosen by DISTAL; by itself it takes {})", own_kernels);
  return out;
}

}  // namespace

BlasLibrary load_blas(const std::string& name, Vectors cpu) {
  // A pool of threads is made at the load or at the first call, and would only wait for work.
  Environment openblas("OPENBLAS_NUM_THREADS", "1"), mkl("MKL_NUM_THREADS", "1"), blis("BLIS_NUM_THREADS", "1");
  BlasLibrary out;
  std::string own_kernels = load_with_best_kernels(out.library, name, cpu);
  if (!out.library.loaded()) fail(fmt::format("cannot load a BLAS: {}", out.library.error()));
  find_functions(out.library, name, 's', std::get<Cblas<float>>(out.functions));
  find_functions(out.library, name, 'd', std::get<Cblas<double>>(out.functions));
  find_functions(out.library, name, 'c', std::get<Cblas<std::complex<float>>>(out.functions));
  find_functions(out.library, name, 'z', std::get<Cblas<std::complex<double>>>(out.functions));
  use_one_thread(out.library);
  if (!takes_sizes_of_32_bits(out.library)) {
    fail(fmt::format("{} takes sizes of 64 bits, and a BLAS with sizes of 32 bits is needed", name));
  }
  out.description = describe(out, name, own_kernels);
  return out;
}

void require_room_for_calls() {
  constexpr size_t kBytes = size_t{160} << 20;  // OpenBLAS takes 128 MiB, and what belongs to it
  static std::mutex mutex;
  static size_t threads = 0;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  std::lock_guard lock(mutex);
  // Those that came before may not have taken theirs yet.
  size_t bytes = ++threads * kBytes;
  if (void* room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); room != MAP_FAILED) {
    munmap(room, bytes);
    return;
  }
  throw Error(fmt::format("each thread that calls BLAS needs 160 MiB, and this process may only have {} in all",
                          bytes_in_full(static_cast<int64_t>(limit.rlim_cur))),
              {}, "raise the limit (ulimit -v), or run with fewer threads or with --leaf generated",
              Error::Kind::Resources);
}

std::string blas_name() {
  if (const char* chosen = std::getenv("DISTAL_BLAS"); chosen && *chosen) return chosen;
  // A program that was built on another machine finds it by its name, wherever it is.
  std::filesystem::path built_with = DISTAL_BLAS_LIBRARY;
  return std::filesystem::exists(built_with) ? built_with.string() : built_with.filename().string();
}

const BlasLibrary& blas_library() {
  // Never unloaded: threads may still compute when the program ends.
  static const BlasLibrary& library = *new BlasLibrary(load_blas(blas_name()));
  return library;
}

std::string blas_description() { return blas_library().description; }

}  // namespace distal::core
