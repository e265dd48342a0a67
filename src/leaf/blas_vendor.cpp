#include "leaf/blas_vendor.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <sstream>

namespace distal::core {

namespace {

// The text is "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...". Before version 0.3 it has the options only.
std::string name_of_openblas(const char* config) {
  std::istringstream words(config);
  std::string name, version;
  words >> name >> version;
  return name == "OpenBLAS" ? name + " " + version : "OpenBLAS";
}

// The text is "Intel(R) oneAPI Math Kernel Library Version 2024.1-Product Build 20240215 for Intel(R) 64 ...".
std::string name_of_mkl(void (*version)(char*, int)) {
  std::array<char, 256> text{};
  version(text.data(), static_cast<int>(text.size()) - 1);
  std::string line = text.data();
  return line.substr(0, line.find("-Product"));
}

}  // namespace

void use_one_thread(const SharedLibrary& library) {
  // MKL's sequential layer, which needs no OpenMP runtime, and its interface layer with 32-bit sizes.
  constexpr int kSequential = 1, k32BitSizes = 0;
  using Choose = int (*)(int);
  if (auto* f = library.find<Choose>("MKL_Set_Threading_Layer")) f(kSequential);
  if (auto* f = library.find<Choose>("MKL_Set_Interface_Layer")) f(k32BitSizes);
  using Set = void (*)(int);
  if (auto* f = library.find<Set>("MKL_Set_Num_Threads")) f(1);
  if (auto* f = library.find<Set>("openblas_set_num_threads")) f(1);
  if (auto* f = library.find<void (*)(int64_t)>("bli_thread_set_num_threads")) f(1);
}

std::string name_of_blas(const SharedLibrary& library, const std::string& file) {
  using Text = const char* (*)();
  if (auto* f = library.find<Text>("openblas_get_config")) return name_of_openblas(f());
  if (auto* f = library.find<void (*)(char*, int)>("MKL_Get_Version_String")) return name_of_mkl(f);
  if (auto* f = library.find<Text>("bli_info_get_version_str")) return std::string("BLIS ") + f();
  return std::filesystem::path(file).filename().string();
}

}  // namespace distal::core
