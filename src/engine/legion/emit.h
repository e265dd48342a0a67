#pragma once

#include <map>
#include <string>
#include <vector>

#include "program/program.h"

namespace distal::core {

// A program to emit, and the name that it goes by: that of its file, without the ending.
struct LegionSource {
  std::string name;
  std::shared_ptr<const Program> program;  // of legion_program
};

// The files of a C++ program for Legion that carries the given programs out, by name: its own text, a CMakeLists.txt,
// and in distal/ what all emitted programs share. Refuses what Legion has no room for.
std::map<std::string, std::string> emit_legion(const std::vector<LegionSource>& sources);

// What may be the name of an executable and of a namespace, made of any name.
std::string legion_name(const std::string& file);

}  // namespace distal::core
