#pragma once

#include <map>
#include <span>
#include <string>

#include "data/npy_reader.h"
#include "plan/plan.h"
#include "store/tensor_store.h"

namespace distal::core {

// The initial data of a run: arrays in files, and random values for the other tensors. It computes the initial value of
// any element without looking at pieces, so the check of results does not depend on where pieces are placed. Elements
// of files are read when they are needed.
class Dataset {
 public:
  // Throws an Error if a file has another shape or element type than its tensor.
  Dataset(const Plan& plan, const std::map<std::string, std::string>& files, uint64_t seed);

  // Sets all replicas of the tensor to its initial values.
  void place(int tensor, TensorStore& store) const;
  // Writes the initial value of one element to `element`.
  void read(int tensor, std::span<const int64_t> at, void* element) const;
  // All initial values, in row-major order.
  std::vector<std::byte> whole(int tensor) const;
  // A hash of the files' headers, and of samples of their elements.
  uint64_t digest() const;

 private:
  int64_t linear(int tensor, std::span<const int64_t> at) const;

  const Plan& plan_;
  ElementType type_;
  std::map<int, NpyReader> files_;
  std::vector<uint64_t> seeds_;
};

}  // namespace distal::core
