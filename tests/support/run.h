#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check/reference.h"
#include "data/random.h"
#include "engine/runner.h"
#include "leaf/leaf.h"
#include "plan/memory.h"
#include "plan/verify.h"
#include "support/programs.h"

namespace distal::core::test {

struct RunOptions {
  ElementType type = ElementType::Double;
  LeafChoice leaf = LeafChoice::Automatic;
  int threads = 2;
  bool own_memory = false;
  bool neighbours = true;
  bool integer_valued = true;  // floating point data holds small integers, so that sums are exact in any order
  uint64_t seed = 1;
};

// Writes the start value of an element. It depends only on the seed and the index, so the reference computes it again
// instead of keeping a copy.
inline void write_sample(ElementType type, bool integer_valued, uint64_t seed, int64_t index, void* element) {
  with_element_type(type, [&](auto zero) {
    using T = decltype(zero);
    T value = random_value<T>(seed, index);
    if (integer_valued) value = static_cast<T>(static_cast<float>(random_value<int32_t>(seed, index)));
    std::memcpy(element, &value, sizeof(T));
  });
}

// A planned and verified program with its data in place. It can run many times; run_and_check checks the result.
class TestRun {
 public:
  TestRun(const std::string& text, const std::string& settings, RunOptions options = {})
      : TestRun(typed(parse_text(text), options.type), settings_of(settings), options) {}

  TestRun(const Module& module, const Bindings& settings, RunOptions options)
      : TestRun(std::make_unique<Plan>(plan_module(module, settings, PlanOptions{options.neighbours})), options) {}

  // For a test that made the plan, and perhaps the leaves, itself. `verified` is false for a plan broken on purpose.
  TestRun(std::unique_ptr<Plan> plan, RunOptions options, Leaves leaves = {}, bool verified = true)
      : options_(options),
        plan_(std::move(plan)),
        needs_(memory_needs(*plan_, options.own_memory ? Reach::own() : Reach::all())),
        allocator_(plan_->processors),
        store_(*plan_, allocator_) {
    if (verified) verify(*plan_, needs_);
    if (leaves.empty()) {
      for (const StagePlan& s : plan_->stages) {
        leaves.push_back(make_leaf(s, plan_->program->module.type, options.leaf));
        leaf_names_.push_back(leaves.back()->description());
      }
    }
    runner_ = std::make_unique<Runner>(*plan_, needs_, std::move(leaves), allocator_, store_,
                                       RunnerOptions{options.threads, options.own_memory});
    place(options.seed);
  }

  static Module typed(Module module, ElementType type) {
    module.type = type;
    return module;
  }

  const Plan& plan() const { return *plan_; }
  const MemoryNeeds& needs() const { return needs_; }
  MemoryNeeds& needs() { return needs_; }  // a test may change them before the first run, to make the plan wrong
  const RunCounts& counts() const { return counts_; }
  const TensorStore& store() const { return store_; }
  const std::vector<std::string>& leaf_names() const { return leaf_names_; }
  int64_t peak() const { return allocator_.peak_per_processor(); }

  // Fills all tensors with the data of a seed.
  void place(uint64_t seed) {
    seed_ = seed;
    for (size_t t = 0; t < plan_->tensors.size(); ++t) {
      const Ownership& owners = plan_->tensors[t].owners;
      for (int64_t p = 0; p < owners.machine().processors; ++p) {
        for (const Rect& rect : owners.rects_of(p)) {
          for_each_point(rect, [&](const Coordinates& at) {
            start_value(static_cast<int>(t), at, store_.element(static_cast<int>(t), p, at));
          });
        }
      }
    }
  }

  RunCounts run() { return counts_ = runner_->run(); }

  // Runs every statement and compares every element of its output, in every replica.
  void run_and_check() {
    counts_ = {};
    std::map<int, std::vector<std::byte>> now;  // the outputs so far, by tensor
    for (size_t s = 0; s < plan_->stages.size(); ++s) {
      const StagePlan& stage = plan_->stages[s];
      counts_ += runner_->run_stage(s);
      check(stage, now);
      now[stage.output] = store_.gather(stage.output);
    }
  }

 private:
  void start_value(int t, std::span<const int64_t> at, void* element) const {
    write_sample(store_.type(), options_.integer_valued, tensor_seed(plan_->tensors[t].name, seed_), linear(t, at),
                 element);
  }

  int64_t linear(int t, std::span<const int64_t> at) const {
    int64_t index = 0;
    for (size_t d = 0; d < at.size(); ++d) index = index * plan_->tensors[t].owners.shape()[d] + at[d];
    return index;
  }

  void check(const StagePlan& stage, const std::map<int, std::vector<std::byte>>& written) const {
    alignas(16) std::byte element[16];
    ElementReader before = [&](const std::string& name, std::span<const int64_t> at) -> const void* {
      int t = plan_->tensor_index(name);
      if (auto w = written.find(t); w != written.end()) {
        return w->second.data() + linear(t, at) * plan_->tensors[t].element_bytes;
      }
      start_value(t, at, element);
      return element;
    };
    ElementReader after = [&](const std::string&, std::span<const int64_t> at) -> const void* {
      const Ownership& owners = plan_->tensors[stage.output].owners;
      Coordinates point(at.begin(), at.end());
      return store_.element(stage.output, owners.first_owner(owners.colour_of(point)), point);
    };
    std::map<std::string, int64_t> extents;
    std::map<std::string, int64_t> all = extents_of(stage);
    for (const IndexVar& v : variables(stage.stage->source.statement)) extents[v.name] = all.at(v.name);
    const Coordinates& shape = plan_->tensors[stage.output].owners.shape();
    CheckResult result = check_statement(stage.stage->source.statement, store_.type(), extents, before, after, 0, 1, {},
                                         {shape.begin(), shape.end()});
    EXPECT_TRUE(result.ok) << result.first_wrong;
    if (options_.integer_valued) {
      EXPECT_EQ(result.max_relative_error, 0) << result.first_wrong;
    }
    EXPECT_EQ(store_.differing_replica(stage.output), "");
  }

  RunOptions options_;
  std::unique_ptr<Plan> plan_;
  MemoryNeeds needs_;
  Allocator allocator_;
  TensorStore store_;
  std::unique_ptr<Runner> runner_;
  std::vector<std::string> leaf_names_;
  uint64_t seed_ = 1;
  RunCounts counts_;
};

// Runs a program once. Checks every element of its output against the reference, and its counts and its memory against
// the plan.
inline RunCounts run_text(const std::string& text, const std::string& settings = {}, RunOptions options = {}) {
  SCOPED_TRACE(settings);
  TestRun run(text, settings, options);
  run.run_and_check();
  Cost cost = count_cost(run.plan());
  EXPECT_EQ(run.counts().bytes_moved, cost.bytes_moved);
  EXPECT_EQ(run.counts().messages, cost.messages);
  EXPECT_LE(run.peak(), run.needs().peak_per_processor);
  EXPECT_LE(run.peak(), cost.peak_bytes_per_processor);
  return run.counts();
}

inline RunCounts run_algorithm(const std::string& name, const std::string& settings = {}, RunOptions options = {}) {
  SCOPED_TRACE(name);
  return run_text(algorithm_text(name), settings, options);
}

// The message of the Error that `f` throws; fails if it throws none.
template <class Exception = Error, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Exception& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace distal::core::test
