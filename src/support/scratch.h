#pragma once

#include <cstddef>

namespace distal::core {

// Temporary memory of this thread, aligned to a cache line. It is valid until the thread calls scratch again: each call
// returns the same memory, reallocated if it is too small.
std::byte* scratch(size_t bytes);

}  // namespace distal::core
