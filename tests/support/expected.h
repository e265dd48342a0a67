#pragma once

#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "check/reference.h"
#include "data/random.h"
#include "leaf/leaf.h"
#include "plan/cost.h"
#include "store/tensor_store.h"
#include "support/index_extents.h"
#include "support/wrapped_leaf.h"

namespace distal::core::test {

// A failed check. The processes of the test must stop, so it is thrown.
struct TestFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require_equal(const std::string& what, int64_t have, int64_t want) {
  if (have != want) throw TestFailure(fmt::format("{}: {}, expected {}", what, have, want));
}

// Compares the sum of the counts of all processes with the cost of the whole plan.
inline void require_cost(const Plan& plan, int64_t bytes_moved, int64_t messages) {
  Cost cost = count_cost(plan);
  require_equal("bytes moved", bytes_moved, cost.bytes_moved);
  require_equal("messages", messages, cost.messages);
}

// A leaf for which engines always join steps where they may.
class AlwaysJoining : public WrappedLeaf {
 public:
  using WrappedLeaf::WrappedLeaf;
  bool gains_from_joining() const override { return true; }
};

// Leaves that need no compiler. In programs this small, compiling takes longer than interpreting the whole program.
inline Leaves quick_leaves(const Plan& plan) {
  Leaves leaves;
  for (const StagePlan& stage : plan.stages) {
    bool marked = !all_marks(leaf_of(*stage.stage).root).empty();
    leaves.push_back(std::make_unique<AlwaysJoining>(
        make_leaf(stage, plan.program->module.type, marked ? LeafChoice::Interpreted : LeafChoice::Automatic)));
  }
  return leaves;
}

// The elements that all tensors of a program must have, each tensor whole and in row-major order. They begin as small
// integers, so that sums are exact in any order. advance() sets the output of a statement.
class Expected {
 public:
  Expected(const Plan& plan, uint64_t seed) : plan_(plan), type_(plan.program->module.type) {
    for (const TensorPlan& t : plan.tensors) {
      Rect all = whole(t.owners.shape());
      std::vector<std::byte> data(static_cast<size_t>(all.volume() * t.element_bytes));
      for (int64_t i = 0; i < all.volume(); ++i) set_sample(tensor_seed(t.name, seed), i, data.data());
      tensors_.push_back(std::move(data));
    }
  }

  // Fills the pieces of a process.
  void place(TensorStore& store) const {
    for (int t = 0; t < static_cast<int>(tensors_.size()); ++t) {
      store.fill(t, [&](std::span<const int64_t> at, void* value) {
        std::memcpy(value, element(t, at), static_cast<size_t>(size_of(type_)));
      });
    }
  }

  // Checks `made`, the output of a stage, against the reference, and takes it as the expected tensor from then on.
  void advance(const StagePlan& stage, std::vector<std::byte> made, bool exactly) {
    ElementReader before = [&](const std::string& name, std::span<const int64_t> at) -> const void* {
      return element(plan_.tensor_index(name), at);
    };
    ElementReader after = [&](const std::string& name, std::span<const int64_t> at) -> const void* {
      return made.data() + linear(plan_.tensor_index(name), at) * size_of(type_);
    };
    const Statement& statement = stage.stage->source.statement;
    require_equal("bytes of a whole tensor", static_cast<int64_t>(made.size()),
                  static_cast<int64_t>(tensors_[static_cast<size_t>(stage.output)].size()));
    const Coordinates& shape = plan_.tensors[static_cast<size_t>(stage.output)].owners.shape();
    CheckResult result =
        check_statement(statement, type_, extents_in(statement), before, after, 0, 1, {}, {shape.begin(), shape.end()});
    if (!result.ok) throw TestFailure(fmt::format("{}: {}", to_string(statement), result.first_wrong));
    if (exactly && result.max_relative_error != 0) throw TestFailure(to_string(statement) + ": not exact");
    tensors_[static_cast<size_t>(stage.output)] = std::move(made);
  }

  // Checks every element of the pieces, replicas included, of the processors for which `is_here` holds.
  void check_pieces(const TensorStore& store, const std::function<bool(int64_t)>& is_here) const {
    for (int t = 0; t < static_cast<int>(tensors_.size()); ++t) {
      const Ownership& owners = plan_.tensors[static_cast<size_t>(t)].owners;
      for (int64_t p = 0; p < owners.machine().processors; ++p) {
        if (!is_here(p)) continue;
        for (const Rect& rect : owners.rects_of(p)) check_rect(store, t, p, rect);
      }
    }
  }

 private:
  const std::byte* element(int t, std::span<const int64_t> at) const {
    return tensors_[static_cast<size_t>(t)].data() + linear(t, at) * size_of(type_);
  }

  int64_t linear(int t, std::span<const int64_t> at) const {
    int64_t index = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      index = index * plan_.tensors[static_cast<size_t>(t)].owners.shape()[d] + at[d];
    }
    return index;
  }

  void set_sample(uint64_t seed, int64_t index, std::byte* data) const {
    with_element_type(type_, [&](auto zero) {
      using T = decltype(zero);
      auto value = static_cast<T>(static_cast<float>(random_value<int32_t>(seed, index)));
      std::memcpy(data + static_cast<size_t>(index) * sizeof(T), &value, sizeof(T));
    });
  }

  std::map<std::string, int64_t> extents_in(const Statement& statement) const {
    return index_extents(statement, [&](const std::string& name) {
      return plan_.tensors[static_cast<size_t>(plan_.tensor_index(name))].owners.shape();
    });
  }

  void check_rect(const TensorStore& store, int t, int64_t p, const Rect& rect) const {
    for_each_point(rect, [&](const Coordinates& at) {
      if (std::memcmp(store.element(t, p, at), element(t, at), static_cast<size_t>(size_of(type_))) == 0) return;
      throw TestFailure(fmt::format("{}({}) of processor {} differs from the expected element",
                                    plan_.tensors[static_cast<size_t>(t)].name, fmt::join(at, ", "), p));
    });
  }

  const Plan& plan_;
  ElementType type_;
  std::vector<std::vector<std::byte>> tensors_;  // by number in the plan
};

}  // namespace distal::core::test
