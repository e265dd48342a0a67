#include "leaf/box_leaf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "leaf/share.h"

namespace distal::core {

namespace {

// A pass with its kernels.
struct Pass {
  BoxTerms terms;
  BoxKernels kernels;
  const BoxKernel* expected;

  const BoxKernel* kernel_for(const BoxShape& box) const { return core::kernel_for(kernels, box); }
};

Pass make_pass(const Compute& compute, ElementType type, const BoxPass& plan) {
  Pass out{box_terms(compute, plan.terms), {}, nullptr};
  for (BoxKernelKind kind : plan.kernels) {
    out.kernels.push_back(make_box_kernel(kind, out.terms.terms, type, compute.accumulate));
  }
  out.expected = out.kernels[plan.expected].get();
  return out;
}

class BoxLeaf : public LeafKernel {
 public:
  BoxLeaf(const LeafTask& task, ElementType type, const BoxPlan& plan,
          std::function<std::unique_ptr<LeafKernel>()> make_other)
      : type_(type),
        substitute_(plan.substitute),
        one_thread_(plan.one_thread),
        around_(plan.around),
        extents_(task.space.extents),
        finder_(box_task(task, plan), type),
        make_other_(std::move(make_other)) {
    for (const BoxPass& pass : plan.passes) {
      passes_.push_back(make_pass(*task.part->compute(), type, pass));
      prepare(passes_.back(), pass.likely);
    }
    in_register_blocks_ = plan.passes[0].kernels[plan.passes[0].expected] == BoxKernelKind::RegisterBlocks;
    gains_from_joining_ = passes_.size() == 1 && around_.empty() && !one_thread_ &&
                          passes_[0].expected->gains_from_joining(plan.passes[0].likely);
  }

  bool can_overwrite() const override { return around_.empty(); }

  void run(const LeafArguments& arguments) const override {
    if (around_.empty()) return run_box(arguments);
    LeafArguments inner = arguments;
    loop(inner, 0);
  }

  bool gains_from_joining() const override { return gains_from_joining_; }

  void run_joined(std::span<const LeafArguments> runs) const override {
    if (runs.size() == 1 || !gains_from_joining_) return LeafKernel::run_joined(runs);
    std::vector<Box> boxes = finder_.find_all(runs, passes_[0].terms);
    auto has_kernel = [&](const Box& box) { return passes_[0].kernel_for(box) != nullptr; };
    if (!std::all_of(boxes.begin(), boxes.end(), has_kernel)) return LeafKernel::run_joined(runs);
    share_in_turn(passes_[0].kernels, std::move(boxes), type_, runs[0].overwrite, runs[0].team);
  }

  std::string description() const override {
    std::vector<std::string> names;
    for (const Pass& p : passes_) names.push_back(p.expected->description());
    std::string how = fmt::format("{}", fmt::join(names, " and "));
    if (substitute_.empty()) return how;
    return fmt::format(fmt::runtime(in_register_blocks_ ? "{} in {}" : "{} ({})"), substitute_, how);
  }

 private:
  // A kernel of substitute runs in tiles, and the last ones may use another kernel than most. So all are prepared now:
  // no run waits for one, or fails.
  void prepare(const Pass& pass, const BoxShape& likely) const {
    if (substitute_.empty()) return pass.expected->prepare(likely);
    for (const auto& kernel : pass.kernels) kernel->prepare(likely);
  }

  void loop(LeafArguments& inner, size_t depth) const {
    if (depth == around_.size()) return run_box(inner);
    for (int64_t x = 0; x < extents_[around_[depth]]; ++x) {
      inner.values[around_[depth]] = x;
      loop(inner, depth + 1);
    }
  }

  void run_box(const LeafArguments& arguments) const {
    Box box;
    bool overwrite = arguments.overwrite;
    for (const Pass& p : passes_) {
      if (!finder_.find(arguments, p.terms, box)) continue;
      const BoxKernel* kernel = p.kernel_for(box);
      if (!kernel) return run_other(box, arguments);
      share(*kernel, {&box, 1}, type_, overwrite, one_thread_ ? nullptr : arguments.team);
      overwrite = false;
    }
  }

  // Only leaves without generated code need the other leaf. They have one pass, so nothing has run yet.
  void run_other(const Box& box, const LeafArguments& arguments) const {
    std::call_once(once_, [&] { other_ = make_other_(); });
    if (arguments.overwrite) clear_output(box, size_of(type_));
    other_->run(arguments);
  }

  ElementType type_;
  std::string substitute_;
  bool one_thread_;
  std::vector<int> around_;
  std::vector<int64_t> extents_;
  BoxFinder finder_;
  std::vector<Pass> passes_;
  bool in_register_blocks_, gains_from_joining_;
  std::function<std::unique_ptr<LeafKernel>()> make_other_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<LeafKernel> other_;
};

}  // namespace

std::string box_sources(const LeafTask& task, ElementType type, const BoxPlan& plan) {
  std::string out;
  for (const BoxPass& pass : plan.passes) {
    out += make_pass(*task.part->compute(), type, pass).expected->source(pass.likely);
  }
  return out;
}

std::unique_ptr<LeafKernel> make_box_leaf(const LeafTask& task, ElementType type, const BoxPlan& plan,
                                          std::function<std::unique_ptr<LeafKernel>()> make_other) {
  return std::make_unique<BoxLeaf>(task, type, plan, std::move(make_other));
}

}  // namespace distal::core
