#include "store/allocator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "store/huge_pages.h"
#include "support/error.h"

namespace distal::core {

namespace {

std::byte* aligned_memory(int64_t bytes) {
  int64_t alignment = bytes >= kMinHugePageBytes ? kHugePage : kAlignment;
  int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  auto* data =
      static_cast<std::byte*>(std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(rounded)));
  if (data && alignment == kHugePage) advise_huge_pages(data, rounded);
  return data;
}

}  // namespace

void FreeBlock::operator()(std::byte* data) const { std::free(data); }

Block allocate_block(int64_t bytes, const std::string& user) {
  if (std::byte* data = aligned_memory(std::max<int64_t>(bytes, 1))) return Block(data);
  throw Error(fmt::format("cannot allocate {} bytes for {}", bytes, user), {}, {}, Error::Kind::Resources);
}

Block Allocator::allocate(int64_t processor, int64_t bytes, int64_t uncounted) {
  Block block = allocate_block(bytes + uncounted, fmt::format("processor {}", processor));
  record_allocation(processor, bytes);
  return block;
}

void Allocator::record_allocation(int64_t processor, int64_t bytes) {
  std::lock_guard lock(mutex_);
  current_[processor] += bytes;
  peak_[processor] = std::max(peak_[processor], current_[processor]);
}

void Allocator::record_release(int64_t processor, int64_t bytes) {
  std::lock_guard lock(mutex_);
  current_[processor] -= bytes;
}

std::vector<int64_t> Allocator::peaks() const {
  std::lock_guard lock(mutex_);
  return peak_;
}

int64_t Allocator::peak_per_processor() const {
  std::vector<int64_t> all = peaks();
  return *std::max_element(all.begin(), all.end());
}

}  // namespace distal::core
