#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lang/element_type.h"

namespace distal::core {

// A dense array as a .npy file holds it, always in C order (the last dimension is contiguous). A scalar has an
// empty shape and one element.
struct NpyArray {
  ElementType type = ElementType::Double;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
  bool operator==(const NpyArray&) const = default;
};

// Reads format versions 1 to 3. An array in Fortran order is brought into C order. Throws Error, with the file's
// name and what would be legal, for everything that is not a whole little-endian array of an element type of ours.
NpyArray read_npy(const std::string& path);

// The same without its elements: type and shape only.
NpyArray read_npy_head(const std::string& path);

// Refuses a path that write_npy would refuse to open, as far as that can be told without touching it: so that it is
// said before the work and not after it.
void require_writable(const std::string& path);

// Writes the oldest format version that can hold the header, as NumPy does.
void write_npy(const std::string& path, const NpyArray& array);

}  // namespace distal::core
