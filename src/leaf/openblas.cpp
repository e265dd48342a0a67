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

// What OpenBLAS calls its kernels without AVX-512 for x86.
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

Vectors vectors_of_kernels(const std::string& core) {
  std::string name;
  for (unsigned char c : core) name += static_cast<char>(std::tolower(c));
  if (has(kNarrow, name)) return Vectors::Narrow;
  if (has(kAvx, name)) return Vectors::Avx;
  return has(kAvx2, name) ? Vectors::Avx2 : Vectors::Avx512;
}

Vectors vectors_of_cpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    return Vectors::Avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Vectors::Avx2;
  if (__builtin_cpu_supports("avx")) return Vectors::Avx;
#endif
  return Vectors::Narrow;
}

std::string better_kernels(const std::string& core, Vectors cpu) {
  if (core.empty() || vectors_of_kernels(core) >= cpu) return "";
  switch (cpu) {
    case Vectors::Avx512: return "SkylakeX";
    case Vectors::Avx2: return "Haswell";
    case Vectors::Avx: return "Sandybridge";
    case Vectors::Narrow: break;
  }
  return "";
}

std::string kernels_of(const SharedLibrary& library) {
  auto* core = library.find<const char* (*)()>("openblas_get_corename");
  return core ? core() : "";
}

namespace {

// The kernels that a library takes by itself, kept between runs where they are not the best: finding that out means to
// load it twice, which takes milliseconds.
class KernelMemo {
 public:
  // A bare name says too little: the loader may find another file tomorrow.
  explicit KernelMemo(const std::string& library) {
    if (library.find('/') == std::string::npos) return;
    file_ = cache_folder() + "/" + name_by_content("kernels", file_fingerprint(library) + cpu_fingerprint());
  }

  std::string own_kernels() const {
    std::istringstream text(file_.empty() ? "" : read_text(file_));
    std::string out;
    text >> out;
    return out;
  }

  // Where nothing can be written, it is found out again the next time.
  void keep(const std::string& own) const {
    if (file_.empty()) return;
    try {
      safe_cache_folder();
      write_atomically(file_, own + "\n");
    } catch (const Error&) {
    }
  }

 private:
  std::string file_;
};

// Whether the library is there now, with other kernels than its own.
bool load_with(const std::string& kernels, SharedLibrary& library, const std::string& name) {
  Environment told(kCoreType, kernels);
  return library.load(name) && kernels_of(library) == kernels;
}

}  // namespace

std::string load_with_best_kernels(SharedLibrary& library, const std::string& name, Vectors cpu) {
  if (std::getenv(kCoreType)) {
    library.load(name);
    return "";
  }
  KernelMemo memo(name);
  std::string own = memo.own_kernels(), better = better_kernels(own, cpu);
  if (!better.empty() && load_with(better, library, name)) return own;
  library.unload();
  if (!library.load(name)) return "";
  own = kernels_of(library);
  better = better_kernels(own, cpu);
  if (better.empty()) return "";
  library.unload();
  // Where somebody else in this process has loaded it before, it stays as it is.
  if (!load_with(better, library, name)) return "";
  memo.keep(own);
  return own;
}

}  // namespace distal::core
