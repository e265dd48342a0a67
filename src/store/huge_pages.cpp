#include "store/huge_pages.h"

#include <sys/mman.h>

namespace distal::core {

namespace {

constexpr int kCollapse = 25;  // MADV_COLLAPSE, which some C library headers do not define yet

}  // namespace

void advise_huge_pages(std::byte* data, int64_t bytes) { madvise(data, static_cast<size_t>(bytes), MADV_HUGEPAGE); }

void collapse_to_huge_pages(std::byte* data, int64_t bytes) {
  auto past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % kHugePage);
  int64_t before = past == 0 ? 0 : kHugePage - past;
  int64_t whole = (bytes - before) / kHugePage * kHugePage;
  if (whole > 0) madvise(data + before, static_cast<size_t>(whole), kCollapse);
}

}  // namespace distal::core
