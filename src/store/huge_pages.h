#pragma once

#include <cstddef>
#include <cstdint>

namespace distal::core {

// The size of huge pages where there are any. Reading all of a tensor then needs few page tables. A machine without
// them says no to the calls below, and nothing is lost.
constexpr int64_t kHugePage = 2 << 20;

// What is less gains nothing.
constexpr int64_t kFromHugePages = 4 * kHugePage;

// Memory that nobody has touched yet, from a multiple of the size on.
void ask_for_huge_pages(std::byte* data, int64_t bytes);
// Memory that has elements already: they are copied, and lie where they lay. Its ends stay as they are.
void collapse_to_huge_pages(std::byte* data, int64_t bytes);

}  // namespace distal::core
