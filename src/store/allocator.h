#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace distal::core {

struct FreeBlock {
  void operator()(std::byte* data) const;
};
using Block = std::unique_ptr<std::byte[], FreeBlock>;

// Where memory for vector loads may begin.
constexpr int64_t kAlignment = 64;
constexpr int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Memory that is aligned for vector loads, and not initialised. An Error of kind Resources, which says whose it was to
// be, when there is none.
Block take_block(int64_t bytes, const std::string& whose);

// Every byte that DISTAL holds for a processor is taken here, and counted.
class Allocator {
 public:
  explicit Allocator(int64_t processors) : current_(static_cast<size_t>(processors)), peak_(current_) {}

  // As take_block. The padding is further memory that only makes for alignment, and is not counted.
  Block allocate(int64_t processor, int64_t bytes, int64_t padding = 0);
  void released(int64_t processor, int64_t bytes);
  void counted(int64_t processor, int64_t bytes);  // memory that was had by other means
  int64_t peak_per_processor() const;
  std::vector<int64_t> peaks() const;  // by processor

 private:
  mutable std::mutex mutex_;
  std::vector<int64_t> current_;
  std::vector<int64_t> peak_;
};

}  // namespace distal::core
