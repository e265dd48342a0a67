#include "leaf/compile.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "support/cache.h"
#include "support/environment.h"
#include "support/error.h"
#include "support/process.h"
#include "support/unfinished_file.h"

namespace distal::core {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& message, const std::string& help = {}) {
  throw Error(message, {}, help, Error::Kind::Resources);
}

// No -ffast-math: a NaN must stay a NaN, and the program's floating-point mode must not change.
std::vector<std::string> flags(CompileOptions options) {
  std::vector<std::string> out{"-std=c++17", "-O3", "-march=native", "-shared", "-fPIC", "-w"};
  out.emplace_back(options.openmp ? "-fopenmp" : "-fopenmp-simd");
  if (options.reassociate) {
    for (const char* flag : {"-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno",
                             "-ffp-contract=fast", "-fcx-limited-range", "-mprefer-vector-width=512"}) {
      out.emplace_back(flag);
    }
  }
  return out;
}

void compile(const std::string& compiler, const std::string& source, CompileOptions options, const fs::path& text,
             const fs::path& library) {
  fs::path input = unique_name(text);
  input += ".cpp";
  UnfinishedFile unfinished_input(input.string());
  std::ofstream(input, std::ios::binary) << source;
  fs::path output = unique_name(library);
  UnfinishedFile unfinished_output(output.string());
  std::vector<std::string> command = flags(options);
  command.insert(command.begin(), compiler);
  command.insert(command.end(), {"-o", output.string(), input.string()});
  int status = run_process(command);
  std::error_code error;
  fs::remove(input, error);
  if (status != 0) {
    fs::remove(output, error);
    fail(fmt::format("{} could not compile a leaf (status {})", compiler, status),
         "run with --leaf interpreted to go without a compiler");
  }
  if (!fs::exists(output, error)) {
    fail(fmt::format("{} reported success, but compiled nothing", compiler), "set DISTAL_CXX to a C++ compiler");
  }
  write_atomically(text, source);
  fs::rename(output, library, error);
  if (error) fail(fmt::format("cannot write {}", library.string()));
}

[[noreturn]] void refuse_without_compiler() {
  std::string chosen = environment("DISTAL_CXX");
  if (chosen.empty()) {
    fail("no C++ compiler was found to compile a leaf", "install g++, or run with --leaf interpreted");
  }
  fail(fmt::format("DISTAL_CXX is `{}`, and there is no such program", chosen),
       chosen.find(' ') != std::string::npos
           ? fmt::format("name a C++ compiler without options, as in DISTAL_CXX={}", chosen.substr(0, chosen.find(' ')))
           : "name a C++ compiler, as in DISTAL_CXX=g++, or unset it for the system's");
}

// A leaf that uses OpenMP is never unloaded: unloading it could unload the OpenMP runtime while its threads still run.
CompiledLeaf load(const fs::path& library, bool openmp, bool from_cache) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | (openmp ? RTLD_NODELETE : 0));
  if (!handle) return {};
  void* symbol = dlsym(handle, "leaf");
  std::shared_ptr<void> owner(handle, [](void* h) { dlclose(h); });
  if (!symbol) return {};
  return {symbol, std::move(owner), from_cache};
}

}  // namespace

std::string leaf_compiler() {
  std::string chosen = environment("DISTAL_CXX");
  if (!chosen.empty()) return on_path(chosen);
  for (const char* name : {"c++", "g++", "clang++"}) {
    std::string found = on_path(name);
    if (!found.empty()) return found;
  }
  return "";
}

bool can_compile_leaves() { return !environment("DISTAL_CXX").empty() || !leaf_compiler().empty(); }

CompiledLeaf compile_leaf(const std::string& source, CompileOptions options) {
  std::string compiler = leaf_compiler();
  if (compiler.empty()) refuse_without_compiler();
  fs::path folder = safe_cache_folder();
  std::string key = fmt::format("{}\n// {} {} {}", source, fmt::join(flags(options), " "), file_fingerprint(compiler),
                                cpu_fingerprint());
  std::string name = name_by_content("leaf", key);
  fs::path library = folder / (name + ".so");
  fs::path text = folder / (name + ".cpp");
  if (fs::exists(library) && read_text(text) == source) {
    CompiledLeaf found = load(library, options.openmp, true);
    if (found.symbol) return found;
  }
  compile(compiler, source, options, text, library);
  CompiledLeaf made = load(library, options.openmp, false);
  if (!made.symbol) fail(fmt::format("cannot load {}: {}", library.string(), dlerror()));
  return made;
}

}  // namespace distal::core
