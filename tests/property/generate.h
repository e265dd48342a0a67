#pragma once

#include <cstdint>
#include <string>

namespace distal::core::property {

struct GeneratedProgram {
  std::string text;
  bool wrong = false;  // a mistake was put in on purpose: it must be refused
};

// A random program as the text of a .distal file; the same for the same seed everywhere.
GeneratedProgram generate_program(uint64_t seed);

}  // namespace distal::core::property
