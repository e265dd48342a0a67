#pragma once

#include <map>
#include <string>
#include <vector>

#include "program/program.h"

namespace distal::core {

// A program to emit, and its name: the file's name without the extension, made valid by legion_name.
struct LegionSource {
  std::string name;
  std::shared_ptr<const Program> program;
};

// By name: the files of a C++ program for Legion that carries out the given programs. They are the program itself, a
// CMakeLists.txt, and in distal/ the headers that all emitted programs share. Throws if a program exceeds a limit of
// Legion.
std::map<std::string, std::string> emit_legion(const std::vector<LegionSource>& sources);

// Turns any name into one that is valid for an executable and a C++ namespace.
std::string legion_name(const std::string& file);

}  // namespace distal::core
