#include "leaf/compile.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "support/cache.h"
#include "support/environment.h"
#include "support/error.h"

extern char** environ;

namespace distal::core {

namespace fs = std::filesystem;

namespace {

std::string on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0 ? program : "";
  std::stringstream path(environment("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    std::string candidate = fmt::format("{}/{}", folder, program);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

[[noreturn]] void fail(const std::string& message, const std::string& help = {}) {
  throw Error(message, {}, help, Error::Kind::Resources);
}

int run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawn(&pid, command[0].c_str(), nullptr, nullptr, arguments.data(), environ) != 0) return -1;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Not -ffast-math: what is not a number stays so, and the program's own floating point mode is left alone.
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
  std::ofstream(input, std::ios::binary) << source;
  fs::path output = unique_name(library);
  std::vector<std::string> command = flags(options);
  command.insert(command.begin(), compiler);
  command.insert(command.end(), {"-o", output.string(), input.string()});
  int status = run(command);
  std::error_code error;
  fs::remove(input, error);
  if (status != 0) {
    fs::remove(output, error);
    fail(fmt::format("{} could not compile a leaf (status {})", compiler, status),
         "run with --leaf interpreted to go without a compiler");
  }
  write_atomically(text, source);
  fs::rename(output, library, error);
  if (error) fail(fmt::format("cannot write {}", library.string()));
}

// A leaf with threads of OpenMP's stays loaded for good: its runtime would go with it while its threads still live.
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

CompiledLeaf compile_leaf(const std::string& source, CompileOptions options) {
  std::string compiler = leaf_compiler();
  if (compiler.empty())
    fail("no C++ compiler was found to compile a leaf with", "install g++, or run with --leaf interpreted");
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
