#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/element_type.h"

namespace distal::core {

// The contents of the dictionary in the header of a .npy file.
struct NpyHeader {
  ElementType type = ElementType::Double;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Parses "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }". Throws Error naming `path`.
NpyHeader parse_npy_header(std::string_view text, const std::string& path);

// Formats this dictionary for an array in C order.
std::string format_npy_header(ElementType type, const std::vector<int64_t>& shape);

// Throws Error: `path` and the reason; the help says which files are legal.
[[noreturn]] void refuse_npy(const std::string& path, const std::string& reason);

}  // namespace distal::core
