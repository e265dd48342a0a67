#pragma once

#include <cstddef>
#include <cstdint>

namespace distal::core {

// The size of a huge page. With huge pages, reading a whole tensor needs few page tables. On a system without them the
// functions below have no effect.
constexpr int64_t kHugePage = 2 << 20;

// Less memory does not gain from huge pages.
constexpr int64_t kMinHugePageBytes = 4 * kHugePage;

// For memory that is not touched yet and begins at a multiple of kHugePage.
void advise_huge_pages(std::byte* data, int64_t bytes);
// For memory in use: the system copies its elements to huge pages, and their addresses stay the same. What does not
// fill a huge page at either end stays on small pages.
void collapse_to_huge_pages(std::byte* data, int64_t bytes);

}  // namespace distal::core
