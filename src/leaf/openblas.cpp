#include "leaf/openblas.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "support/cache.h"
#include "support/environment.h"
#include "support/error.h"

namespace distal::core {

namespace {

constexpr const char* kCoreType = "OPENBLAS_CORETYPE";

// The names of OpenBLAS's x86 kernels without AVX-512.
constexpr std::array<std::string_view, 18> kNarrow{
    "unknown", "generic", "katmai",     "coppermine", "northwood", "prescott", "banias",       "atom",      "core2",
    "penryn",  "nano",    "dunnington", "nehalem",    "athlon",    "opteron",  "opteron_sse3", "barcelona", "bobcat"};
constexpr std::array<std::string_view, 4> kAvx{"sandybridge", "bulldozer", "piledriver", "steamroller"};
constexpr std::array<std::string_view, 3> kAvx2{"haswell", "excavator", "zen"};

template <class Names>
bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

SimdWidth simd_width_of_kernels(const std::string& core) {
  std::string name;
  for (unsigned char c : core) name += static_cast<char>(std::tolower(c));
  if (has(kNarrow, name)) return SimdWidth::Narrow;
  if (has(kAvx, name)) return SimdWidth::Avx;
  return has(kAvx2, name) ? SimdWidth::Avx2 : SimdWidth::Avx512;
}

SimdWidth simd_width_of_cpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    return SimdWidth::Avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return SimdWidth::Avx2;
  if (__builtin_cpu_supports("avx")) return SimdWidth::Avx;
#endif
  return SimdWidth::Narrow;
}

std::string better_kernels(const std::string& core, SimdWidth cpu) {
  if (core.empty() || simd_width_of_kernels(core) >= cpu) return "";
  switch (cpu) {
    case SimdWidth::Avx512: return "SkylakeX";
    case SimdWidth::Avx2: return "Haswell";
    case SimdWidth::Avx: return "Sandybridge";
    case SimdWidth::Narrow: break;
  }
  return "";
}

std::string kernels_of(const SharedLibrary& library) {
  auto* core = library.find<const char* (*)()>("openblas_get_corename");
  return core ? core() : "";
}

namespace {

// Remembers between runs which kernels a library selects by default, if they are not the best. Otherwise each run would
// load the library twice, which takes milliseconds.
class KernelMemo {
 public:
  // A bare name has no memo, because the loader may find another file next time.
  explicit KernelMemo(const std::string& library) {
    if (library.find('/') == std::string::npos) return;
    file_ = cache_folder() + "/" + name_by_content("kernels", file_fingerprint(library) + cpu_fingerprint());
  }

  std::string default_kernels() const {
    std::istringstream text(file_.empty() ? "" : read_text(file_));
    std::string out;
    text >> out;
    return out;
  }

  // If the file cannot be written, the next run loads the library twice again.
  void keep(const std::string& kernels) const {
    if (file_.empty()) return;
    try {
      safe_cache_folder();
      write_atomically(file_, kernels + "\n");
    } catch (const Error&) {
    }
  }

 private:
  std::string file_;
};

// Loads the library with the requested kernels. Returns false if it uses others.
bool load_with(const std::string& kernels, SharedLibrary& library, const std::string& name) {
  ScopedVariable core_type(kCoreType, kernels);
  return library.load(name) && kernels_of(library) == kernels;
}

}  // namespace

std::string load_with_best_kernels(SharedLibrary& library, const std::string& name, SimdWidth cpu) {
  if (std::getenv(kCoreType)) {
    library.load(name);
    return "";
  }
  KernelMemo memo(name);
  std::string by_default = memo.default_kernels(), better = better_kernels(by_default, cpu);
  if (!better.empty() && load_with(better, library, name)) return by_default;
  library.unload();
  if (!library.load(name)) return "";
  by_default = kernels_of(library);
  better = better_kernels(by_default, cpu);
  if (better.empty()) return "";
  library.unload();
  // If something else in this process has loaded the library before, it is not loaded again and keeps its kernels.
  if (!load_with(better, library, name)) return "";
  memo.keep(by_default);
  return by_default;
}

}  // namespace distal::core
