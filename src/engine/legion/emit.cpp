#include "engine/legion/emit.h"

#include <fmt/format.h>

#include "engine/legion/program_writer.h"
#include "engine/legion/support_files.h"

namespace distal::core {

namespace {

// The C++ of DISTAL's library has its leaves; the loops in the other files are for those who do not have it.
constexpr char kCmake[] = R"(cmake_minimum_required(VERSION 3.18)
project({name} LANGUAGES CXX)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)

find_package(Legion REQUIRED)
find_package(distal QUIET)

add_executable({name} {name}.cpp)
target_link_libraries({name} PRIVATE Legion::Legion)
target_compile_options({name} PRIVATE -fwrapv)
if(distal_FOUND)
  # Leaves by DISTAL's library, the same as on its other engines.
  target_compile_definitions({name} PRIVATE DISTAL_LEAVES)
  target_link_libraries({name} PRIVATE distal::distal)
else()
  message(STATUS "DISTAL's library was not found: leaves are the loops of the schedule")
  target_sources({name} PRIVATE{nests})
  target_compile_options({name} PRIVATE -O3 -march=native -fopenmp)
  target_link_options({name} PRIVATE -fopenmp)
endif()
)";

std::string main_text(const std::vector<LegionSource>& sources) {
  std::string out =
      "// Emitted by DISTAL for Legion.\n\n#include \"distal/program.h\"\n\nusing namespace distal_legion;\n\n";
  std::string all;
  for (const LegionSource& s : sources) {
    out += write_legion_program(s) + "\n";
    all += (all.empty() ? "&" : ", &") + s.name + "::program";
  }
  return out + fmt::format("int main(int argc, char** argv) {{ return start(argc, argv, {{{}}}); }}\n", all);
}

}  // namespace

std::map<std::string, std::string> emit_legion(const std::vector<LegionSource>& sources) {
  const std::string& name = sources[0].name;
  std::map<std::string, std::string> out;
  for (const auto& [file, text] : legion_support_files()) out["distal/" + file] = text;
  std::string nests;
  for (const LegionSource& s : sources) {
    for (size_t n = 0; n < s.program->stages.size(); ++n) {
      std::string nest = nest_name(s, n);
      if (nest.empty()) continue;
      out[nest + ".cpp"] = write_nest(s, n);
      nests += " " + nest + ".cpp";
    }
  }
  out[name + ".cpp"] = main_text(sources);
  out["CMakeLists.txt"] = fmt::format(kCmake, fmt::arg("name", name), fmt::arg("nests", nests));
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
