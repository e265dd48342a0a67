#pragma once

#include <cstdint>
#include <string>

namespace distal::core::property {

struct GeneratedProgram {
  std::string text;
  bool wrong = false;  // it has a deliberate mistake and must be refused
};

// A random program as the text of a .distal file. The same seed gives the same program on every system.
GeneratedProgram generate_program(uint64_t seed);

}  // namespace distal::core::property
