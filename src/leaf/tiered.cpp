#include "leaf/tiered.h"

#include <atomic>
#include <mutex>

#include "distal/error.h"

namespace distal::core {

namespace {

class TieredLeaf : public LeafKernel {
 public:
  TieredLeaf(std::unique_ptr<LeafKernel> first, double points, double allowance,
             std::function<std::unique_ptr<LeafKernel>()> make_second)
      : first_(std::move(first)), points_(points), allowance_(allowance), make_second_(std::move(make_second)) {}

  // The first leaf's answer holds for both. It is true for assignments only, and every leaf can overwrite these.
  bool can_overwrite() const override { return first_->can_overwrite(); }
  std::string description() const override { return current().description(); }

  void run(const LeafArguments& arguments) const override {
    if (!second_.load(std::memory_order_acquire) && computed_.fetch_add(points_) + points_ > allowance_)
      switch_to_second();
    current().run(arguments);
  }

  bool gains_from_joining() const override { return current().gains_from_joining(); }
  void run_joined(std::span<const LeafArguments> runs) const override {
    const LeafKernel& kernel = current();
    &kernel == first_.get() ? LeafKernel::run_joined(runs) : kernel.run_joined(runs);
  }

 private:
  const LeafKernel& current() const {
    const LeafKernel* second = second_.load(std::memory_order_acquire);
    return second ? *second : *first_;
  }

  // One thread makes the second leaf; meanwhile the others go on with the first.
  void switch_to_second() const {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || tried_) return;
    tried_ = true;
    try {
      owned_second_ = make_second_();
      second_.store(owned_second_.get(), std::memory_order_release);
    } catch (const Error&) {
    }
  }

  std::unique_ptr<LeafKernel> first_;
  double points_, allowance_;
  std::function<std::unique_ptr<LeafKernel>()> make_second_;
  mutable std::atomic<double> computed_{0};
  mutable std::mutex mutex_;
  mutable bool tried_ = false;
  mutable std::unique_ptr<LeafKernel> owned_second_;
  mutable std::atomic<const LeafKernel*> second_{nullptr};
};

}  // namespace

std::unique_ptr<LeafKernel> make_tiered_leaf(std::unique_ptr<LeafKernel> first, double points, double allowance,
                                             std::function<std::unique_ptr<LeafKernel>()> make_second) {
  return std::make_unique<TieredLeaf>(std::move(first), points, allowance, std::move(make_second));
}

}  // namespace distal::core
