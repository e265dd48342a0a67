#include "cli/saved_check.h"

#include <fmt/format.h>

#include "cli/checker.h"
#include "data/npy_reader.h"
#include "store/slabs.h"

namespace distal::core {

CheckResult check_saved(const Plan& plan, const Dataset& data, const std::string& folder, int64_t max_samples,
                        uint64_t seed) {
  Allocator allocator(plan.processors);
  TensorStore store(plan, allocator);
  ResultChecker checker(plan, data, store);
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    std::vector<std::byte> before;
    if (checker.is_written(stage.output)) before = store.gather(stage.output);
    NpyReader file(fmt::format("{}/{}.npy", folder, s));
    load_pieces(store.pieces(stage.output), file.order(),
                [&](auto lo, auto hi, std::byte* to) { file.read(lo, hi, to); });
    checker.check(stage, before, max_samples, seed);
  }
  return checker.result();
}

}  // namespace distal::core
