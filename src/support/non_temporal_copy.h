#pragma once

#include <cstddef>

namespace distal::core {

// Copies bytes that are not read again soon, with non-temporal stores where the CPU has them. Such stores bypass the
// caches, so the CPU does not read the target's cache lines before it overwrites them.
void copy_non_temporal(std::byte* to, const std::byte* from, size_t bytes);

}  // namespace distal::core
