#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lang/element_type.h"
#include "support/process_group.h"

namespace distal::core {

// Throws Error if no .npy file could be written there. It touches no file, so it can be called before long work.
void require_writable(const std::string& path);

// Writes the rectangle lo <= x < hi of an array, which lies at `from`, dense and in C order.
using WriteNpyRect =
    std::function<void(std::span<const int64_t> lo, std::span<const int64_t> hi, const std::byte* from)>;

// Writes a .npy file in C order, in the oldest format version that can hold the header, as NumPy does. Each process of
// the group writes a part of the elements: `write_part` is called once. The file has a temporary name until all
// processes are done; if one fails, all throw its Error, and nothing is left of the file.
void write_npy(const std::string& path, ElementType type, const std::vector<int64_t>& shape, const ProcessGroup& group,
               const std::function<void(const WriteNpyRect& write)>& write_part);

}  // namespace distal::core
