#include "leaf/tiered.h"

#include <atomic>
#include <mutex>

#include "distal/error.h"

namespace distal::core {

namespace {

class TieredLeaf : public LeafKernel {
 public:
  TieredLeaf(std::unique_ptr<LeafKernel> first, double points, double allowance,
             std::function<std::unique_ptr<LeafKernel>()> then)
      : first_(std::move(first)), points_(points), allowance_(allowance), then_(std::move(then)) {}

  // That of the first for both: every leaf can begin what stores and does not add.
  bool can_begin() const override { return first_->can_begin(); }
  std::string description() const override { return current().description(); }

  void run(const LeafArguments& arguments) const override {
    if (!second_.load(std::memory_order_acquire) && walked_.fetch_add(points_) + points_ > allowance_) make_second();
    current().run(arguments);
  }

  bool gains_together() const override { return current().gains_together(); }
  void run_together(std::span<const LeafArguments> runs) const override {
    const LeafKernel& kernel = current();
    &kernel == first_.get() ? LeafKernel::run_together(runs) : kernel.run_together(runs);
  }

 private:
  const LeafKernel& current() const {
    const LeafKernel* second = second_.load(std::memory_order_acquire);
    return second ? *second : *first_;
  }

  // One thread makes it; the others go on meanwhile.
  void make_second() const {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || tried_) return;
    tried_ = true;
    try {
      made_ = then_();
      second_.store(made_.get(), std::memory_order_release);
    } catch (const Error&) {
    }
  }

  std::unique_ptr<LeafKernel> first_;
  double points_, allowance_;
  std::function<std::unique_ptr<LeafKernel>()> then_;
  mutable std::atomic<double> walked_{0};
  mutable std::mutex mutex_;
  mutable bool tried_ = false;
  mutable std::unique_ptr<LeafKernel> made_;
  mutable std::atomic<const LeafKernel*> second_{nullptr};
};

}  // namespace

std::unique_ptr<LeafKernel> make_tiered_leaf(std::unique_ptr<LeafKernel> first, double points, double allowance,
                                             std::function<std::unique_ptr<LeafKernel>()> then) {
  return std::make_unique<TieredLeaf>(std::move(first), points, allowance, std::move(then));
}

}  // namespace distal::core
