#include "store/allocator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "store/huge_pages.h"
#include "support/error.h"

namespace distal::core {

namespace {

std::byte* take(int64_t bytes) {
  int64_t alignment = bytes >= kFromHugePages ? kHugePage : kAlignment;
  int64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  auto* data =
      static_cast<std::byte*>(std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(rounded)));
  if (data && alignment == kHugePage) ask_for_huge_pages(data, rounded);
  return data;
}

}  // namespace

void FreeBlock::operator()(std::byte* data) const { std::free(data); }

Block take_block(int64_t bytes, const std::string& whose) {
  if (std::byte* data = take(std::max<int64_t>(bytes, 1))) return Block(data);
  throw Error(fmt::format("no memory for {} bytes of {}", bytes, whose), {}, {}, Error::Kind::Resources);
}

Block Allocator::allocate(int64_t processor, int64_t bytes, int64_t padding) {
  Block block = take_block(bytes + padding, fmt::format("processor {}", processor));
  counted(processor, bytes);
  return block;
}

void Allocator::counted(int64_t processor, int64_t bytes) {
  std::lock_guard lock(mutex_);
  current_[processor] += bytes;
  peak_[processor] = std::max(peak_[processor], current_[processor]);
}

void Allocator::released(int64_t processor, int64_t bytes) {
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
