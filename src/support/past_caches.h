#pragma once

#include <cstddef>

namespace distal::core {

// Copies bytes that nobody reads soon: past the caches, which saves reading what they overwrite, where the CPU can.
void copy_past_caches(std::byte* to, const std::byte* from, size_t bytes);

}  // namespace distal::core
