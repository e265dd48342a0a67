// Operands of generated kernels, in memory whose ends are guarded.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace distal::core::test {

// Memory between two pages that may not be touched. It ends at the second page, or begins at the first.
class GuardedMemory {
 public:
  GuardedMemory(int64_t bytes, bool at_end) : page_(sysconf(_SC_PAGESIZE)), bytes_(bytes) {
    inside_ = (bytes + page_ - 1) / page_ * page_;
    all_ = static_cast<std::byte*>(mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(all_, static_cast<size_t>(page_), PROT_NONE);
    mprotect(all_ + page_ + inside_, static_cast<size_t>(page_), PROT_NONE);
    data_ = all_ + page_ + (at_end ? inside_ - bytes : 0);
  }
  ~GuardedMemory() { munmap(all_, size()); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  std::byte* data() const { return data_; }
  size_t bytes() const { return static_cast<size_t>(bytes_); }

 private:
  size_t size() const { return static_cast<size_t>(inside_ + 2 * page_); }

  int64_t page_, bytes_, inside_ = 0;
  std::byte *all_ = nullptr, *data_ = nullptr;
};

// A tensor in memory.
struct RandomOperand {
  std::vector<int64_t> strides;
  int64_t elements = 1, first = 0;  // `first`: the element at index 0 of all dimensions

  // In a storage order, outermost dimension first, without gaps.
  RandomOperand(const std::vector<int64_t>& extents, const std::vector<int>& order) : strides(extents.size()) {
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      strides[static_cast<size_t>(*d)] = elements;
      elements *= extents[static_cast<size_t>(*d)];
    }
  }

  // In any storage order, with gaps. Strides may also be negative, or 0 if the operand is only read.
  // `still`: the dimensions along which an operand that is only read does not move.
  RandomOperand(const std::vector<int64_t>& extents, const std::vector<bool>& still, bool is_output,
                std::mt19937& random) {
    std::vector<size_t> order(extents.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    strides.resize(extents.size());
    for (size_t d : order) {
      elements += static_cast<int64_t>(random() % 3);
      strides[d] = elements;
      elements *= extents[d];
      bool turned = random() % 4 == 0;
      if (turned) {
        first += (extents[d] - 1) * strides[d];
        strides[d] = -strides[d];
      }
      if (!is_output && !turned && (still[d] || random() % 6 == 0)) strides[d] = 0;
    }
  }
};

}  // namespace distal::core::test
