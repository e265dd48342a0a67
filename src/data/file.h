#pragma once

#include <cstdint>
#include <utility>

namespace distal::core {

// An open file that is read and written at given offsets. Several threads may do so at once.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}  // -1: opening it failed
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File() { close(); }

  bool is_open() const { return descriptor_ >= 0; }
  int64_t size() const;                // -1: the system does not say
  bool set_size(int64_t bytes) const;  // this function and the next ones return false on failure
  bool close();                        // fails also if bytes that were written before did not reach the file
  bool read(int64_t offset, void* to, int64_t bytes) const;  // fails also if the file ends before
  bool write(int64_t offset, const void* from, int64_t bytes) const;

 private:
  int descriptor_ = -1;
};

}  // namespace distal::core
