#include "leaf/openblas.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "support/environment.h"

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

std::string load_with_best_kernels(SharedLibrary& library, const std::string& name, Vectors cpu) {
  if (!library.load(name)) return "";
  std::string own = kernels_of(library);
  std::string better = std::getenv(kCoreType) ? "" : better_kernels(own, cpu);
  if (better.empty()) return "";
  library.unload();
  Environment told(kCoreType, better);
  library.load(name);
  // Where somebody else in this process has loaded it before, it stays as it is.
  return kernels_of(library) == own ? "" : own;
}

}  // namespace distal::core
