#include "cli/saved_check.h"

#include <fmt/format.h>

#include <cstring>

#include "cli/checker.h"
#include "data/npy.h"

namespace distal::core {

namespace {

// Copies a whole array into the pieces of a tensor.
void scatter(const Plan& plan, int tensor, const NpyArray& array, TensorStore& store) {
  const Coordinates& shape = plan.tensors[tensor].owners.shape();
  auto bytes = static_cast<size_t>(plan.tensors[tensor].element_bytes);
  store.fill(tensor, [&](std::span<const int64_t> at, void* element) {
    int64_t index = 0;
    for (size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
    std::memcpy(element, array.data.data() + static_cast<size_t>(index) * bytes, bytes);
  });
}

}  // namespace

CheckResult check_saved(const Plan& plan, const Dataset& data, const std::string& folder, int64_t max_samples,
                        uint64_t seed) {
  Allocator allocator(plan.processors);
  TensorStore store(plan, allocator);
  ResultChecker checker(plan, data, store);
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    std::vector<std::byte> before;
    if (checker.is_written(stage.output)) before = store.gather(stage.output);
    scatter(plan, stage.output, read_npy(fmt::format("{}/{}.npy", folder, s)), store);
    checker.check(stage, before, max_samples, seed);
  }
  return checker.result();
}

}  // namespace distal::core
