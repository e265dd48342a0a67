#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/file.h"
#include "data/npy_header.h"

namespace distal::core {

// The array of a .npy file, of format version 1 to 3. Its elements stay in the file and are read where they are needed.
class NpyReader {
 public:
  // Throws Error for a file that is not one complete little-endian array of a supported element type. The error names
  // the file and says what is legal.
  explicit NpyReader(std::string path);

  ElementType type() const { return header_.type; }
  const std::vector<int64_t>& shape() const { return header_.shape; }
  // The dimensions as the elements lie in the file, outermost first.
  const std::vector<int>& order() const { return order_; }

  // Reads the rectangle lo <= x < hi to `to`, dense and in the file's order. Needs no memory. Several threads may read.
  void read(std::span<const int64_t> lo, std::span<const int64_t> hi, std::byte* to) const;
  // Reads one element. Keeps the blocks around the last elements, at most kKeptBytes. For one thread.
  void read_element(std::span<const int64_t> at, void* to) const;
  static constexpr int64_t kKeptBytes = 16 << 20;

  // A hash of the type, the shape and the bytes at some places. Reads 256 KiB at most.
  uint64_t digest() const;

 private:
  void read_bytes(int64_t first, int64_t bytes, std::byte* to) const;  // of the elements
  const std::byte* block(int64_t number) const;

  std::string path_;
  File file_;
  NpyHeader header_;
  std::vector<int> order_;
  int64_t begin_ = 0;  // of the elements in the file
  mutable std::unordered_map<int64_t, std::vector<std::byte>> kept_;
};

}  // namespace distal::core
