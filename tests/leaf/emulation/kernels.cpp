#include "leaf/emulation/kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "engine/legion/support_files.h"
#include "leaf/compile.h"
#include "support/cache.h"
#include "support/process.h"

namespace distal::core::test {

namespace {

namespace fs = std::filesystem;

const fs::path kTests = DISTAL_SOURCE_DIR "/tests";

// Loads and stores call functions of instrumentation.cpp, which this program defines: no library of a sanitizer is
// needed. With the address sanitizer, which this program then has, they are checked by that.
std::vector<std::string> flags() {
  std::vector<std::string> out{"-std=c++17", "-Og", "-shared", "-fPIC", "-w", "-nodefaultlibs", "-Wl,-Bsymbolic"};
#ifdef __SANITIZE_ADDRESS__
  out.emplace_back("-fsanitize=address");
#else
  out.emplace_back("-fsanitize=thread,alignment");
#endif
  return out;
}

// Everything that the headers of generated sources and of the emulation depend on.
std::string all_headers() {
  std::string out = read_text(kTests / "leaf/emulation/cuda.h") + read_text(kTests / "leaf/cublas/cublas_v2.h");
  for (const auto& [name, header] : legion_support_files()) out += name + header;
  return out;
}

void compile(const std::string& source, const fs::path& library) {
  const fs::path folder = unique_name(library);
  write_gpu_headers(folder.string());
  std::ofstream(folder / "kernels.cpp") << source;
  std::vector<std::string> command = flags();
  command.insert(command.begin(), leaf_compiler());
  for (const fs::path& include : {folder, kTests, kTests / "leaf/cublas"}) command.push_back("-I" + include.string());
  command.insert(command.end(), {"-include", "leaf/emulation/cuda.h", "-o", (folder / "kernels.so").string(),
                                 (folder / "kernels.cpp").string()});
  if (run_process(command) != 0) throw std::runtime_error("generated CUDA does not compile for the host");
  fs::rename(folder / "kernels.so", library);
  fs::remove_all(folder);
}

}  // namespace

EmulatedKernels::EmulatedKernels(const std::vector<std::string>& sources) {
  const std::string source = joined_gpu_sources(sources);
  const std::string key =
      fmt::format("{}{}{}{}", source, all_headers(), fmt::join(flags(), " "), file_fingerprint(leaf_compiler()));
  const fs::path library = safe_cache_folder() / (name_by_content("gpu", key) + ".so");
  if (!fs::exists(library)) compile(source, library);
  if (!library_.load(library.string())) throw std::runtime_error(library_.error());
}

GpuFunction* EmulatedKernels::function(size_t source) const {
  return library_.find<GpuFunction*>(fmt::format("leaf_{}", source));
}

void write_gpu_headers(const std::string& folder) {
  for (const auto& [name, header] : legion_support_files()) {
    const fs::path file = fs::path(folder) / "distal" / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << header;
  }
}

std::string joined_gpu_sources(const std::vector<std::string>& sources) {
  std::string out;
  for (size_t s = 0; s < sources.size(); ++s) {
    const size_t end_of_includes = sources[s].find("namespace {");
    out += fmt::format("{}namespace kernel_{} {{\n{}}}\n", sources[s].substr(0, end_of_includes), s,
                       sources[s].substr(end_of_includes));
  }
  return out;
}

}  // namespace distal::core::test
