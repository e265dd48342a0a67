#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/element_type.h"

namespace distal::core {

static_assert(std::endian::native == std::endian::little,
              "the elements of a .npy file are read and written without conversion");

// A .npy file begins with these, the format version and the length of the header's text.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
inline constexpr size_t kNpyVersionBytes = 2;

// The contents of the dictionary in the header of a .npy file.
struct NpyHeader {
  ElementType type = ElementType::Double;
  bool fortran_order = false;  // the first dimension is contiguous, and not the last one
  std::vector<int64_t> shape;  // empty: a scalar, which is one element

  // The dimensions as the elements lie in the file, outermost first.
  std::vector<int> order() const;
  // The bytes of all elements; -1 if the number overflows.
  int64_t bytes() const;
};

// Parses "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }". Throws Error naming `path`.
NpyHeader parse_npy_header(std::string_view text, const std::string& path);

// Formats this dictionary for an array in C order.
std::string format_npy_header(ElementType type, const std::vector<int64_t>& shape);

// Throws Error: `path` and the reason; the help says which files are legal.
[[noreturn]] void refuse_npy(const std::string& path, const std::string& reason);

}  // namespace distal::core
