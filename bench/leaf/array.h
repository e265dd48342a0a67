#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <utility>

namespace leaf {

// An array on huge pages where the system has them, so that TLB misses do not decide a measurement.
template <class T>
class Array {
 public:
  Array() = default;
  explicit Array(int64_t size) : size_(size) {
    void* memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<char*>(memory);
    madvise(base_, bytes(), MADV_HUGEPAGE);
  }
  Array(Array&& other) noexcept : base_(std::exchange(other.base_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Array() {
    if (base_) munmap(base_, bytes());
  }

  T* data() const {
    auto address = reinterpret_cast<uintptr_t>(base_);
    return reinterpret_cast<T*>((address + kPage - 1) / kPage * kPage);
  }
  int64_t size() const { return size_; }
  T& operator[](int64_t at) const { return data()[at]; }
  std::span<T> span() const { return {data(), static_cast<size_t>(size_)}; }

 private:
  static constexpr size_t kPage = size_t{1} << 21;
  // One huge page more than the data, so that data() can begin at a huge page.
  size_t bytes() const { return (static_cast<size_t>(size_) * sizeof(T) + kPage - 1) / kPage * kPage + kPage; }

  char* base_ = nullptr;
  int64_t size_ = 0;
};

// Element `at` of operand number `salt`: a multiple of 1/128 in [-1, 1), so that sums of products are almost exact in
// any order. peers.py has the same function.
inline double value(int64_t at, int salt) {
  uint32_t x = static_cast<uint32_t>(at + 1) * (2654435761U * static_cast<uint32_t>(2 * salt + 3));
  return static_cast<double>(x >> 16 & 255) / 128 - 1;
}

template <class T>
void fill(const Array<T>& array, int salt) {
  T* data = array.data();
  for (int64_t at = 0; at < array.size(); ++at) data[at] = static_cast<T>(value(at, salt));
}

// Fills a result with NaN, so that a check finds elements that a kernel did not write.
template <class T>
void poison(const Array<T>& array) {
  for (T& x : array.span()) x = std::numeric_limits<T>::quiet_NaN();
}

}  // namespace leaf
