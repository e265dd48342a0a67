#include "cli/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plan/cost.h"

namespace distal::core {

namespace {

int64_t linear_index(const Coordinates& shape, std::span<const int64_t> at) {
  int64_t index = 0;
  for (size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
  return index;
}

// The inputs of a statement as whole arrays. A check of every element reads each input element many times.
class DenseInputs {
 public:
  DenseLookup lookup() {
    return [this](const std::string& name) -> std::optional<DenseTensor> {
      auto found = arrays_.find(name);
      if (found == arrays_.end()) return std::nullopt;
      return DenseTensor{found->second.data.data(), found->second.strides};
    };
  }

  // The address of an element; null if `name` is not one of these inputs.
  const void* element(const std::string& name, std::span<const int64_t> at, int64_t element_bytes) const {
    auto found = arrays_.find(name);
    if (found == arrays_.end()) return nullptr;
    int64_t index = std::inner_product(at.begin(), at.end(), found->second.strides.begin(), int64_t{0});
    return found->second.data.data() + index * element_bytes;
  }

  void add(const std::string& name, const Coordinates& shape, std::vector<std::byte> data) {
    Array array{std::move(data), std::vector<int64_t>(shape.size(), 1)};
    for (size_t d = shape.size(); d-- > 1;) array.strides[d - 1] = array.strides[d] * shape[d];
    arrays_[name] = std::move(array);
  }

 private:
  struct Array {
    std::vector<std::byte> data;
    std::vector<int64_t> strides;
  };
  std::map<std::string, Array> arrays_;
};

// The inputs that a check needs as whole arrays: all of them if it checks every element; else, with several processes,
// those that an earlier statement wrote, because their elements may be in other processes.
std::set<int> whole_inputs(const Plan& plan, const Statement& statement, const std::set<int>& written,
                           int64_t max_samples, bool has_all_pieces) {
  std::set<int> out;
  for (const Access& access : accesses(statement.rhs)) {
    int tensor = plan.tensor_index(access.tensor);
    if (max_samples > 0 && (has_all_pieces || written.count(tensor) == 0)) continue;
    out.insert(tensor);
  }
  return out;
}

int64_t whole_bytes(const Plan& plan, int tensor) {
  const TensorPlan& t = plan.tensors[static_cast<size_t>(tensor)];
  return whole(t.owners.shape()).volume() * t.element_bytes;
}

}  // namespace

int64_t checking_bytes(const Plan& plan, int64_t max_samples, bool has_all_pieces) {
  int64_t most = 0;
  std::set<int> written;
  for (const StagePlan& stage : plan.stages) {
    int64_t bytes = written.count(stage.output) > 0 ? whole_bytes(plan, stage.output) : 0;
    for (int t : whole_inputs(plan, stage.stage->source.statement, written, max_samples, has_all_pieces)) {
      bytes += whole_bytes(plan, t);
    }
    most = std::max(most, bytes);
    written.insert(stage.output);
  }
  return most;
}

void ResultChecker::check(const StagePlan& stage, const std::vector<std::byte>& before, int64_t max_samples,
                          uint64_t seed) {
  const Statement& statement = stage.stage->source.statement;
  DenseInputs dense;
  for (int tensor : whole_inputs(plan_, statement, written_, max_samples, has_all_pieces())) {
    const TensorPlan& t = plan_.tensors[tensor];
    dense.add(t.name, t.owners.shape(), is_written(tensor) ? gather(tensor) : data_.whole(tensor));
  }
  alignas(16) std::byte element[16];
  ElementReader read_before = [&](const std::string& name, std::span<const int64_t> at) -> const void* {
    int tensor = plan_.tensor_index(name);
    const TensorPlan& t = plan_.tensors[tensor];
    if (tensor == stage.output && !before.empty()) {
      return before.data() + linear_index(t.owners.shape(), at) * t.element_bytes;
    }
    if (const void* found = dense.element(name, at, t.element_bytes)) return found;
    if (tensor != stage.output && is_written(tensor)) return stored(tensor, at);
    data_.read(tensor, at, element);
    return element;
  };
  ElementReader read_after = [&](const std::string&, std::span<const int64_t> at) { return stored(stage.output, at); };

  std::map<std::string, int64_t> all = extents_of(stage);
  std::map<std::string, int64_t> extents;
  for (const IndexVar& v : variables(statement)) extents[v.name] = all.at(v.name);
  const Coordinates& shape = plan_.tensors[stage.output].owners.shape();
  add(check_statement(statement, store_.type(), extents, read_before, read_after, max_samples, seed, dense.lookup(),
                      {shape.begin(), shape.end()}));

  // check_statement compared the first replica in this process only. Compare the others with it.
  std::string differing = store_.differing_replica(stage.output);
  if (!differing.empty()) {
    add({false, 0, 0, fmt::format("the replicas of {} differ at {}", statement.lhs.tensor, differing)});
  }
  written_.insert(stage.output);
}

const void* ResultChecker::stored(int tensor, std::span<const int64_t> at) const {
  const Ownership& owners = plan_.tensors[tensor].owners;
  Coordinates point(at.begin(), at.end());
  Colour colour = owners.colour_of(point);
  if (has_all_pieces()) return store_.element(tensor, owners.first_owner(colour), point);
  for (int64_t p : owners.processors_of(colour)) {
    if (session_->is_here(p)) return store_.element(tensor, p, point);
  }
  return nullptr;
}

void ResultChecker::add(const CheckResult& result) {
  if (result_.ok && !result.ok) result_.first_wrong = result.first_wrong;
  result_.ok = result_.ok && result.ok;
  result_.max_relative_error = std::max(result_.max_relative_error, result.max_relative_error);
  result_.checked += result.checked;
}

}  // namespace distal::core
