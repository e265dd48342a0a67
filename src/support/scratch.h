#pragma once

#include <cstddef>

namespace distal::core {

// Memory of this thread's own for the length of one piece of work, aligned to a cache line. It is kept for the next
// one, so asking again costs nothing; what was in it is gone.
std::byte* scratch(size_t bytes);

}  // namespace distal::core
