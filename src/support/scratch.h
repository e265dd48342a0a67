#pragma once

#include <cstddef>

namespace distal::core {

// Temporary memory of this thread, aligned to a cache line. It is valid until the thread calls scratch again. The
// memory is reused, so a call that needs no more than earlier ones costs nothing; it may overwrite the old contents.
std::byte* scratch(size_t bytes);

}  // namespace distal::core
