#pragma once

#include <memory>
#include <string>
#include <utility>

#include "leaf/leaf.h"

namespace distal::core::test {

// Does what another leaf does. A test overrides what it changes or counts.
class WrappedLeaf : public LeafKernel {
 public:
  explicit WrappedLeaf(std::shared_ptr<const LeafKernel> leaf) : leaf_(std::move(leaf)) {}
  bool can_overwrite() const override { return leaf_->can_overwrite(); }
  void run(const LeafArguments& arguments) const override { leaf_->run(arguments); }
  bool gains_from_joining() const override { return leaf_->gains_from_joining(); }
  void run_joined(std::span<const LeafArguments> runs) const override { leaf_->run_joined(runs); }
  std::string description() const override { return leaf_->description(); }

 private:
  std::shared_ptr<const LeafKernel> leaf_;
};

}  // namespace distal::core::test
