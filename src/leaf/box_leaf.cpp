#include "leaf/box_leaf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "leaf/blas_kernel.h"
#include "leaf/blocked.h"
#include "leaf/share.h"
#include "leaf/streamed.h"
#include "leaf/symmetric.h"

namespace distal::core {

namespace {

// Terms that run together, and the kernels to choose from.
struct BoxPart {
  BoxTerms terms;
  BoxKernels kernels;

  const BoxKernel* kernel_for(const Box& box) const { return core::kernel_for(kernels, box); }
};

void append(BoxTerms& to, const BoxTerms& term) {
  LeafTerm added = term.terms[0];
  added.first_operand = static_cast<int>(to.operands.size());
  to.terms.push_back(std::move(added));
  to.operands.insert(to.operands.end(), term.operands.begin() + 1, term.operands.end());
}

// Divides the terms of a leaf into parts. A matrix multiply is a part of its own. All other terms that contribute at
// the same iterations are one part, which runs in one pass.
class BoxPlanner {
 public:
  BoxPlanner(const LeafTask& task, ElementType type, BoxChoice choice)
      : compute_(*task.part->compute()), type_(type), choice_(choice), finder_(task, type) {}

  std::vector<BoxPart> parts() const {
    std::vector<BoxPart> out;
    std::vector<BoxTerms> passes;
    for (const LeafTerm& term : compute_.terms) {
      BoxTerms single = single_term(term);
      BoxPart part{single, matrix_kernels(single)};
      if (!part.kernels.empty() && part.kernel_for(finder_.likely(single))) {
        out.push_back(std::move(part));
      } else {
        add_to_passes(single, passes);
      }
    }
    for (BoxTerms& terms : passes) out.push_back({std::move(terms), {}});
    if (choice_.compile) {
      for (BoxPart& p : out) {
        p.kernels.push_back(make_streamed_kernel(p.terms.terms, type_, compute_.accumulate));
      }
    }
    return out;
  }

  const BoxFinder& finder() const { return finder_; }

 private:
  BoxKernels matrix_kernels(const BoxTerms& single) const {
    BoxKernels out;
    if (!compute_.accumulate) return out;
    auto add = [&](std::unique_ptr<BoxKernel> kernel) {
      if (kernel) out.push_back(std::move(kernel));
    };
    BlasUse use = !choice_.compile ? BlasUse::WherePossible : choice_.small ? BlasUse::ForLarge : BlasUse::UnlessThin;
    if (choice_.library) add(make_symmetric_kernel(single.terms[0], type_));
    if (choice_.library) add(make_blas_kernel(single.terms[0], type_, use));
    if (choice_.compile) add(make_blocked_kernel(single.terms[0], type_));
    return out;
  }

  static void add_to_passes(const BoxTerms& single, std::vector<BoxTerms>& passes) {
    for (BoxTerms& pass : passes) {
      if (pass.only_at_zero == single.only_at_zero) return append(pass, single);
    }
    passes.push_back(single);
  }

  const Compute& compute_;
  ElementType type_;
  BoxChoice choice_;
  BoxFinder finder_;
};

class BoxLeaf : public LeafKernel {
 public:
  BoxLeaf(const LeafTask& task, ElementType type, BoxChoice choice,
          std::function<std::unique_ptr<LeafKernel>()> make_fallback)
      : type_(type), finder_(task, type), make_fallback_(std::move(make_fallback)) {
    parts_ = BoxPlanner(task, type, choice).parts();
    for (const BoxPart& p : parts_) {
      Box box = finder_.likely(p.terms);
      if (const BoxKernel* kernel = p.kernel_for(box)) kernel->prepare(box);
    }
  }

  bool is_complete() const {
    return std::none_of(parts_.begin(), parts_.end(), [](const BoxPart& p) { return p.kernels.empty(); });
  }

  bool can_overwrite() const override { return true; }

  void run(const LeafArguments& arguments) const override {
    Box box;
    bool overwrite = arguments.overwrite;
    for (const BoxPart& p : parts_) {
      if (!finder_.find(arguments, p.terms, box)) continue;
      const BoxKernel* kernel = p.kernel_for(box);
      if (!kernel) return run_fallback(box, arguments);
      share(*kernel, {&box, 1}, type_, overwrite, arguments.team);
      overwrite = false;
    }
  }

  bool gains_from_joining() const override {
    Box box = finder_.likely(parts_[0].terms);
    const BoxKernel* kernel = parts_[0].kernel_for(box);
    return parts_.size() == 1 && kernel && kernel->can_join(box, box);
  }

  void run_joined(std::span<const LeafArguments> runs) const override {
    if (runs.size() == 1 || parts_.size() > 1) return LeafKernel::run_joined(runs);
    std::vector<Box> boxes = finder_.find_all(runs, parts_[0].terms);
    auto has_kernel = [&](const Box& box) { return parts_[0].kernel_for(box) != nullptr; };
    if (!std::all_of(boxes.begin(), boxes.end(), has_kernel)) return LeafKernel::run_joined(runs);
    share_in_turn(parts_[0].kernels, std::move(boxes), type_, runs[0].overwrite, runs[0].team);
  }

  std::string description() const override {
    std::vector<std::string> names;
    for (const BoxPart& p : parts_) {
      const BoxKernel* kernel = p.kernel_for(finder_.likely(p.terms));
      names.push_back((kernel ? *kernel : *p.kernels.back()).description());
    }
    return fmt::format("{}", fmt::join(names, " and "));
  }

 private:
  // Only leaves without generated code need the fallback. They have one part, so nothing has run yet.
  void run_fallback(const Box& box, const LeafArguments& arguments) const {
    std::call_once(once_, [&] { fallback_ = make_fallback_(); });
    if (arguments.overwrite) clear_output(box, size_of(type_));
    fallback_->run(arguments);
  }

  ElementType type_;
  BoxFinder finder_;
  std::vector<BoxPart> parts_;
  std::function<std::unique_ptr<LeafKernel>()> make_fallback_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<LeafKernel> fallback_;
};

// Why the kernel is not a library.
std::string why_not_library(const BoxTerms& terms, const Compute& compute, const std::vector<std::string>& names,
                            ElementType type) {
  if (terms.terms.size() > 1) return "";
  LeafTerm term = terms.terms[0];
  term.first_operand = terms.operands.size() > 1 ? terms.operands[1] : 0;
  BlasForm form = blas_form(compute, term, names, type);
  if (!form.why_not.empty()) return "; no library, because " + form.why_not;
  return fmt::format("; {} by BLAS would be slower", form.name);
}

std::string explain_part(const BoxPlanner& planner, const BoxPart& part, const Compute& compute,
                         const std::vector<std::string>& names, ElementType type, const std::string& otherwise) {
  std::vector<std::string> operands{to_string(compute.assignment.lhs)};
  for (const LeafTerm& t : part.terms.terms) {
    for (const Access& a : accesses(t.expr)) operands.push_back(to_string(a));
  }
  Box box = planner.finder().likely(part.terms);
  const BoxKernel* kernel = part.kernel_for(box);
  std::string out = kernel ? kernel->explain(box, operands) : otherwise;
  if (kernel && kernel->is_library()) return out;
  return out + why_not_library(part.terms, compute, names, type);
}

}  // namespace

std::string explain_box_leaf(const LeafTask& task, ElementType type, BoxChoice choice, const std::string& otherwise) {
  const Compute& compute = *task.part->compute();
  if (!choice.compile && compute.terms.size() > 1) return otherwise;
  BoxPlanner planner(task, type, choice);
  std::string out;
  for (const BoxPart& part : planner.parts()) {
    out +=
        (out.empty() ? "" : "; then ") + explain_part(planner, part, compute, task.stage->space.names, type, otherwise);
  }
  return out;
}

std::string box_leaf_sources(const LeafTask& task, ElementType type) {
  BoxPlanner planner(task, type, {});
  std::string out;
  for (const BoxPart& part : planner.parts()) {
    Box box = planner.finder().likely(part.terms);
    out += part.kernel_for(box)->source(box);
  }
  return out;
}

std::unique_ptr<LeafKernel> make_box_leaf(const LeafTask& task, ElementType type, BoxChoice choice,
                                          std::function<std::unique_ptr<LeafKernel>()> make_fallback) {
  // Without generated code only a single term can run, by the library.
  if (!choice.compile && task.part->compute()->terms.size() > 1) return nullptr;
  auto made = std::make_unique<BoxLeaf>(task, type, choice, std::move(make_fallback));
  if (!made->is_complete()) return nullptr;
  return made;
}

}  // namespace distal::core
