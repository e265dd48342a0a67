#pragma once

#include <cstddef>
#include <cstdint>

namespace distal::core {

// The size of a huge page. With huge pages, reading a whole tensor needs few page tables. On a system without them the
// functions below have no effect.
constexpr int64_t kHugePage = 2 << 20;

// Blocks of fewer bytes do not gain from huge pages.
constexpr int64_t kMinHugePageBytes = 4 * kHugePage;

// Asks the system to use huge pages for memory that is not touched yet and begins at a multiple of kHugePage.
void advise_huge_pages(std::byte* data, int64_t bytes);
// Moves memory in use to huge pages. Addresses and contents stay the same. The parts at both ends that do not fill a
// huge page stay on small pages.
void collapse_to_huge_pages(std::byte* data, int64_t bytes);

}  // namespace distal::core
