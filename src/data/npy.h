#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lang/element_type.h"

namespace distal::core {

// The dense array of a .npy file, always in C order (the last dimension is contiguous). A scalar has an empty shape and
// one element.
struct NpyArray {
  ElementType type = ElementType::Double;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
  bool operator==(const NpyArray&) const = default;
};

// Reads format versions 1 to 3, and converts Fortran order to C order. Throws Error for a file that is not one complete
// little-endian array of a supported element type. The error names the file and says what is legal.
NpyArray read_npy(const std::string& path);

// Reads the type and the shape only; the elements stay empty.
NpyArray read_npy_head(const std::string& path);

// Throws Error if write_npy could not open the path. It does not touch the file, so it can be called before long work.
void require_writable(const std::string& path);

// Writes the oldest format version that can hold the header, as NumPy does.
void write_npy(const std::string& path, const NpyArray& array);

}  // namespace distal::core
