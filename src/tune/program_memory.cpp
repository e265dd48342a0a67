#include "tune/program_memory.h"

#include <algorithm>

#include "plan/ownership.h"
#include "support/checked.h"

namespace distal::core {

namespace {

bool is_accessed(const Module& module, const std::string& tensor) {
  return std::any_of(module.statements.begin(), module.statements.end(), [&](const ScheduledStatement& scheduled) {
    std::vector<Access> all = accesses(scheduled.statement);
    return std::any_of(all.begin(), all.end(), [&](const Access& access) { return access.tensor == tensor; });
  });
}

}  // namespace

int64_t PieceBytes::most_of_others(const Module& module, const std::set<std::string>& excepted) {
  std::vector<int64_t> sum(static_cast<size_t>(processors_), 0);
  for (const Tensor& tensor : module.tensors) {
    if (excepted.count(tensor.name) > 0) continue;
    const std::vector<int64_t>& bytes = bytes_of(module, tensor);
    for (size_t p = 0; p < sum.size(); ++p) sum[p] += bytes[p];
  }
  return *std::max_element(sum.begin(), sum.end());
}

const std::vector<int64_t>& PieceBytes::bytes_of(const Module& module, const Tensor& tensor) {
  auto [entry, is_new] = found_.try_emplace(tensor.name + " " + format_text(tensor));
  std::vector<int64_t>& bytes = entry->second;
  if (!is_new) return bytes;
  int64_t element = size_of(module.type);
  bytes.assign(static_cast<size_t>(processors_), 0);
  if (has_free_format(tensor)) {
    int64_t all = element;
    for (const IntExpr& size : tensor.dimensions) all *= size.evaluate(params_);
    bool is_shared = is_accessed(module, tensor.name);
    bytes.assign(bytes.size(), is_shared ? ceil_div(all, processors_) : 0);
    if (!is_shared) bytes[0] = all;
    return bytes;
  }
  Ownership owners(tensor, params_);
  for (int64_t p = 0; p < std::min(processors_, owners.machine().processors); ++p) {
    if (owners.owns_any(p)) bytes[static_cast<size_t>(p)] = element * owners.piece_of(p).volume();
  }
  return bytes;
}

}  // namespace distal::core
