#include "engine/legion/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/legion/program_writer.h"
#include "engine/legion/support_files.h"
#include "leaf/cpp_text.h"
#include "leaf/gpu/kernel_source.h"

namespace distal::core {

namespace {

constexpr char kCmakeHead[] = R"(cmake_minimum_required(VERSION 3.18)
project({name} LANGUAGES CXX)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)

)";

// With DISTAL's library its leaves are used, without it the loops in the other files.
constexpr char kCmake[] = R"(find_package(Legion REQUIRED)
find_package(distal QUIET)

add_executable({name} {name}.cpp)
target_link_libraries({name} PRIVATE Legion::Legion)
target_compile_options({name} PRIVATE -fwrapv)
if(distal_FOUND)
  # DISTAL's library provides the leaves, as on its other engines.
  target_compile_definitions({name} PRIVATE DISTAL_LEAVES)
  target_link_libraries({name} PRIVATE distal::distal)
else()
  message(STATUS "DISTAL's library was not found: leaves are the loops of the schedule")
  target_sources({name} PRIVATE{nests})
  target_compile_options({name} PRIVATE -O3 -march=native -fopenmp)
  target_link_options({name} PRIVATE -fopenmp)
endif()
)";

// For programs on GPUs. The code is made for the GPUs of the building machine, or without one for two common kinds.
constexpr char kGpuCmake[] = R"(find_package(CUDAToolkit REQUIRED)
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${{CUDAToolkit_NVCC_EXECUTABLE}})
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE no_gpu OUTPUT_QUIET ERROR_QUIET)
  if(no_gpu STREQUAL "0" AND CMAKE_VERSION VERSION_GREATER_EQUAL 3.24)
    set(CMAKE_CUDA_ARCHITECTURES native)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
  endif()
endif()
enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)

find_package(Legion REQUIRED)

add_executable({name} {name}.cpp{kernels})
target_include_directories({name} PRIVATE ${{CMAKE_CURRENT_SOURCE_DIR}})
target_link_libraries({name} PRIVATE Legion::Legion CUDA::cublas CUDA::cudart)
target_compile_options({name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fwrapv>)
# Kernels call constexpr functions.
target_compile_options({name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)
)";

// For programs that also have leaves on CPUs.
constexpr char kGpuCmakeLeaves[] = R"(
find_package(distal QUIET)
if(distal_FOUND)
  # DISTAL's library provides the leaves, as on its other engines.
  target_compile_definitions({name} PRIVATE DISTAL_LEAVES)
  target_link_libraries({name} PRIVATE distal::distal)
else()
  message(STATUS "DISTAL's library was not found: leaves on CPUs are the loops of the schedule")
  target_sources({name} PRIVATE{nests})
  target_compile_options({name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O3 -march=native -fopenmp>)
  target_link_options({name} PRIVATE -fopenmp)
endif()
)";

// The headers of leaves on GPUs. Those of the data on GPUs have names that begin with gpu.
constexpr const char* kGpuFiles[] = {"device.h",  "kernel.h",         "box.h",   "sums.h",      "cublas_calls.h",
                                     "product.h", "packed_product.h", "steps.h", "workspaces.h"};

bool is_for_gpus(const std::string& file) {
  return file.rfind("gpu", 0) == 0 ||
         std::find(std::begin(kGpuFiles), std::end(kGpuFiles), file) != std::end(kGpuFiles);
}

// The names of a program's source files, each with a blank before it.
struct Files {
  std::string nests;
  std::string kernels;
};

std::string cmake_text(const std::vector<LegionSource>& sources, const Files& files) {
  auto fill = [&](const char* text) {
    return fmt::format(fmt::runtime(text), fmt::arg("name", sources[0].name), fmt::arg("nests", files.nests),
                       fmt::arg("kernels", files.kernels));
  };
  if (std::none_of(sources.begin(), sources.end(), uses_gpus)) return fill(kCmakeHead) + fill(kCmake);
  bool cpus = std::any_of(sources.begin(), sources.end(), uses_cpus);
  return fill(kCmakeHead) + fill(kGpuCmake) + (cpus ? fill(kGpuCmakeLeaves) : "");
}

bool has_complex_sums(const LegionSource& source) {
  return uses_gpus(source) && is_complex(source.program->module.type);
}

std::string kernel_text(const Program& program, const Stage& stage, const std::string& function) {
  return gpu_kernel_source(stage, program.module.type, storage_orders(stage, program.module), function);
}

// The kernels that make and move the data of all programs that use GPUs.
std::string data_text(const std::vector<LegionSource>& sources) {
  std::set<std::string> types;
  for (const LegionSource& s : sources) {
    if (uses_gpus(s)) types.insert(cpp_type(s.program->module.type));
  }
  std::string out = "#include \"distal/gpu_data_kernels.h\"\n\n";
  for (const std::string& type : types) out += fmt::format("template struct distal_legion::PieceKernels<{}>;\n", type);
  return out;
}

// Adds the files that nvcc compiles.
void add_kernels(const std::vector<LegionSource>& sources, std::map<std::string, std::string>& out, Files& files) {
  if (std::none_of(sources.begin(), sources.end(), uses_gpus)) return;
  auto add = [&](const std::string& file, const std::string& text) {
    out[file] = text;
    files.kernels += " " + file;
  };
  for (const LegionSource& s : sources) {
    for (size_t n = 0; n < s.program->stages.size(); ++n) {
      std::string kernel = gpu_name(s, n);
      if (!kernel.empty()) add(kernel + ".cu", kernel_text(*s.program, s.program->stages[n], kernel));
    }
  }
  add("gpu_data.cu", data_text(sources));
  if (std::any_of(sources.begin(), sources.end(), has_complex_sums)) {
    add("gpu_sums.cu", "#include \"distal/gpu_sums.h\"\n");
  }
}

std::string main_text(const std::vector<LegionSource>& sources) {
  bool gpus = std::any_of(sources.begin(), sources.end(), uses_gpus);
  std::string out =
      fmt::format("\n#include \"distal/{}.h\"\n\nusing namespace distal_legion;\n\n", gpus ? "gpu" : "program");
  std::string all;
  for (const LegionSource& s : sources) {
    out += write_legion_program(s) + "\n";
    all += (all.empty() ? "&" : ", &") + s.name + "::program";
  }
  return out + fmt::format("int main(int argc, char** argv) {{ return start(argc, argv, {{{}}}); }}\n", all);
}

}  // namespace

std::map<std::string, std::string> emit_legion(const std::vector<LegionSource>& sources) {
  std::map<std::string, std::string> out;
  bool gpus = std::any_of(sources.begin(), sources.end(), uses_gpus);
  for (const auto& [file, text] : legion_support_files()) {
    if (gpus || !is_for_gpus(file)) out["distal/" + file] = text;
  }
  Files files;
  for (const LegionSource& s : sources) {
    for (size_t n = 0; n < s.program->stages.size(); ++n) {
      std::string nest = nest_name(s, n);
      if (nest.empty()) continue;
      out[nest + ".cpp"] = write_nest(s, n);
      files.nests += " " + nest + ".cpp";
    }
  }
  add_kernels(sources, out, files);
  out[sources[0].name + ".cpp"] = main_text(sources);
  out["CMakeLists.txt"] = cmake_text(sources, files);
  for (auto& [file, text] : out) {
    text.insert(0, fmt::format("{} Emitted by DISTAL for Legion.\n", file == "CMakeLists.txt" ? "#" : "//"));
  }
  return out;
}

std::string legion_name(const std::string& file) {
  std::string out;
  for (char c : file) {
    bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += fine ? c : '_';
  }
  bool starts_well = !out.empty() && !(out[0] >= '0' && out[0] <= '9') && out[0] != '_';
  return starts_well ? out : "program_" + out;
}

}  // namespace distal::core
