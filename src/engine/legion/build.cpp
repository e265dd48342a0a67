#include "engine/legion/build.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "support/cache.h"
#include "support/environment.h"
#include "support/error.h"
#include "support/process.h"

namespace distal::core {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& message, const std::string& help = {}) {
  throw Error(message, {}, help, Error::Kind::Resources);
}

// The CMake option that points to DISTAL's library in the build folder; empty if it is not built there, so that CMake
// looks for an installed one.
std::string package_option() {
  std::string folder = DISTAL_PACKAGE_DIR;
  return fs::exists(folder + "/distalTargets.cmake") && fs::exists(folder + "/libdistal.so") ? "-Ddistal_DIR=" + folder
                                                                                             : "";
}

// Everything that the executable depends on.
std::string key_of(const std::map<std::string, std::string>& files, const LegionSettings& settings) {
  std::string out = fmt::format("{}\n{}\n{}\n", settings.origin, settings.legion_dir, package_option());
  for (const auto& [name, text] : files) out += fmt::format("{}\n{}\n", name, text);
  return out + file_fingerprint(on_path("c++"));
}

// A folder that is removed at the end, unless it is kept.
class BuildFolder {
 public:
  explicit BuildFolder(fs::path path) : path_(std::move(path)) { fs::create_directories(path_); }
  ~BuildFolder() {
    std::error_code error;
    if (!kept_) fs::remove_all(path_, error);
  }
  BuildFolder(const BuildFolder&) = delete;
  BuildFolder& operator=(const BuildFolder&) = delete;
  const fs::path& path() const { return path_; }
  void keep() { kept_ = true; }

 private:
  fs::path path_;
  bool kept_ = false;
};

}  // namespace

void write_files(const std::string& folder, const std::map<std::string, std::string>& files) {
  for (const auto& [name, text] : files) {
    fs::path path = fs::path(folder) / name;
    std::error_code error;
    if (fs::exists(path, error) && read_text(path) == text) continue;  // a build need not compile it again
    fs::create_directories(path.parent_path(), error);
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) fail(fmt::format("cannot write {}", path.string()));
  }
}

std::string build_legion(const std::map<std::string, std::string>& files, const std::string& name,
                         const LegionSettings& settings) {
  fs::path executable = safe_cache_folder() / name_by_content("legion-" + name, key_of(files, settings));
  if (fs::exists(executable)) return executable;
  std::string cmake = on_path("cmake");
  if (cmake.empty()) fail("cmake was not found; it builds the Legion program", "install cmake");
  BuildFolder folder(unique_name(executable));
  write_files(folder.path(), files);
  std::string source = folder.path(), build = source + "/build", log = source + "/log";
  std::vector<std::string> configure{cmake, "-S", source, "-B", build, "-DLegion_DIR=" + settings.legion_dir};
  if (std::string package = package_option(); !package.empty()) configure.push_back(package);
  if (!on_path("ninja").empty()) configure.insert(configure.end(), {"-G", "Ninja"});
  bool built = run_process(configure, {{}, log, {}}) == 0 && run_process({cmake, "--build", build}, {{}, log, {}}) == 0;
  if (!built) {
    folder.keep();
    fail("the Legion program could not be built", fmt::format("the build log is {}", log));
  }
  std::error_code error;
  fs::rename(build + "/" + name, executable, error);
  if (error) fail(fmt::format("cannot write {}", executable.string()));
  return executable;
}

}  // namespace distal::core
