#pragma once

#include <map>
#include <span>
#include <string>

#include "data/npy.h"
#include "plan/plan.h"
#include "store/tensor_store.h"

namespace distal::core {

// The data that a run starts from: loaded arrays, and random values for the rest. It can tell the start value of any
// element of any tensor without looking at the pieces, which is what makes the check independent of them.
class Dataset {
 public:
  // Refuses files that do not hold what the tensors of their names need, without reading them whole.
  static void check(const Plan& plan, const std::map<std::string, std::string>& files);
  Dataset(const Plan& plan, const std::map<std::string, std::string>& files, uint64_t seed);

  // Sets all replicas of the tensor to the start values.
  void place(int tensor, TensorStore& store) const;
  // Writes the start value of one element into `element`.
  void read(int tensor, std::span<const int64_t> at, void* element) const;
  // All start values, in row-major order.
  std::vector<std::byte> whole(int tensor) const;
  // A number for all that was loaded; other data have another one.
  uint64_t digest() const;

 private:
  int64_t linear(int tensor, std::span<const int64_t> at) const;

  const Plan& plan_;
  ElementType type_;
  std::map<int, NpyArray> loaded_;
  std::vector<uint64_t> seeds_;
};

}  // namespace distal::core
