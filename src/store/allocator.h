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

// Addresses and sizes are multiples of this, for vector loads.
constexpr int64_t kAlignment = 64;
constexpr int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Uninitialised memory, aligned for vector loads. Throws an Error of kind Resources, which says what `user` the memory
// was for.
Block allocate_block(int64_t bytes, const std::string& user);

// Counts the memory that DISTAL holds for each processor, and its peak.
class Allocator {
 public:
  explicit Allocator(int64_t processors) : current_(static_cast<size_t>(processors)), peak_(current_) {}

  // Allocates bytes + uncounted bytes like allocate_block, and counts only `bytes`.
  Block allocate(int64_t processor, int64_t bytes, int64_t uncounted = 0);
  // Counts memory that was allocated by other means, or as `uncounted` bytes.
  void record_allocation(int64_t processor, int64_t bytes);
  // Ends the counting of these bytes. Freeing a Block does not call this; the user of the Block does.
  void record_release(int64_t processor, int64_t bytes);
  int64_t peak_per_processor() const;
  std::vector<int64_t> peaks() const;  // by processor

 private:
  mutable std::mutex mutex_;
  std::vector<int64_t> current_;
  std::vector<int64_t> peak_;
};

}  // namespace distal::core
