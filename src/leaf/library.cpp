#include "leaf/library.h"

#include <fmt/format.h>

#include <algorithm>

#include "leaf/blas_kernel.h"
#include "leaf/blocked.h"
#include "leaf/share.h"
#include "leaf/symmetric.h"

namespace distal::core {

namespace {

// The innermost loop of PlainProduct.
template <class T>
void multiply_along(const Axis& axis, T* output, const T* left, const T* right) {
  for (int64_t x = 0; x < axis.extent; ++x) {
    T& out = output[x * axis.strides[0]];
    out = wrapping_add(out, wrapping_multiply(left[x * axis.strides[1]], right[x * axis.strides[2]]));
  }
}

// Plain loops for what BLAS cannot take: integers, and matrices without a stride of 1.
template <class T>
class PlainProduct : public BoxKernel {
 public:
  bool takes(const Box&) const override { return true; }
  void run(const Box& box, bool overwrite) const override {
    if (overwrite) clear_output(box, sizeof(T));
    absl::InlinedVector<Axis, 6> outer = box.axes;
    if (outer.empty()) outer.push_back({1, {0, 0, 0}});
    size_t at = innermost(outer);
    Axis along = outer[at];
    outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(at));
    for_each(outer, box.data, sizeof(T), [&](const auto& data) {
      multiply_along(along, reinterpret_cast<T*>(data[0]), reinterpret_cast<const T*>(data[1]),
                     reinterpret_cast<const T*>(data[2]));
    });
  }
  std::string description() const override {
    return std::is_integral_v<T> ? "plain loops: no BLAS for integers" : "plain loops: no BLAS for such strides";
  }
  std::string explain(const Box&, const std::vector<std::string>&) const override { return description(); }

 private:
  // The last axis of the output, so that additions do not wait for one another; the last sum if the output has no axis.
  static size_t innermost(const absl::InlinedVector<Axis, 6>& axes) {
    for (size_t a = axes.size(); a > 0; --a) {
      if (axes[a - 1].strides[0] != 0) return a - 1;
    }
    return axes.size() - 1;
  }
};

bool multiplies_matrices(const LibraryLeaf& library) {
  IndicesByRole<std::vector<int>> indices;
  for (const LibraryIndex& i : library.indices) indices.of(i.role).push_back(i.variable);
  return indices.is_matrix_product();
}

// The kernels to choose from; the last one takes any box.
BoxKernels kernels_for(const LeafTask& task, ElementType type, bool compile) {
  const LeafTerm& term = task.part->compute()->terms[0];
  BoxKernels out;
  auto add = [&](std::unique_ptr<BoxKernel> kernel) {
    if (kernel) out.push_back(std::move(kernel));
  };
  if (task.part->compute()->library->kernel == "syrk") add(make_symmetric_kernel(term, type));
  if (compile && multiplies_matrices(*task.part->compute()->library)) {
    add(make_blas_kernel(term, type, BlasUse::ForLarge));
    add(make_blocked_kernel(term, type));
  }
  add(make_blas_kernel(term, type, BlasUse::WherePossible));
  with_element_type(type, [&](auto zero) { add(std::make_unique<PlainProduct<decltype(zero)>>()); });
  return out;
}

// The task of one kernel call: the innermost loops only. The loops around them have fixed values.
LeafTask kernel_task(const LeafTask& task) {
  LeafTask out = task;
  out.loops.assign(task.loops.end() - static_cast<std::ptrdiff_t>(task.part->compute()->library->indices.size()),
                   task.loops.end());
  return out;
}

class LibraryKernel : public LeafKernel {
 public:
  LibraryKernel(const LeafTask& task, ElementType type, LibraryChoice choice)
      : type_(type),
        strict_(choice.strict),
        name_(task.part->compute()->library->kernel),
        kernels_(kernels_for(task, type, choice.compile)),
        terms_(single_term(task.part->compute()->terms[0])),
        finder_(kernel_task(task), type),
        extents_(task.space.extents),
        outer_(task.loops.begin(), task.loops.end() - static_cast<std::ptrdiff_t>(kernel_task(task).loops.size())) {
    Box box = finder_.likely(terms_);
    likely_ = kernel_for(kernels_, box);
    // The last tiles may use another kernel than most. Prepare all kernels now, so that no run waits for one or fails.
    for (const auto& kernel : kernels_) kernel->prepare(box);
    in_register_blocks_ = !likely_->source(box).empty();
    gains_from_joining_ = outer_.empty() && !strict_ && likely_->can_join(box, box);
  }

  bool can_overwrite() const override { return outer_.empty(); }

  void run(const LeafArguments& arguments) const override {
    if (outer_.empty()) return multiply(arguments);
    LeafArguments inner = arguments;
    loop(inner, 0);
  }

  bool gains_from_joining() const override { return gains_from_joining_; }

  void run_joined(std::span<const LeafArguments> runs) const override {
    if (runs.size() == 1 || !gains_from_joining_) return LeafKernel::run_joined(runs);
    share_in_turn(kernels_, finder_.find_all(runs, terms_), type_, runs[0].overwrite, runs[0].team);
  }

  std::string description() const override {
    std::string how = likely_->description();
    return in_register_blocks_ ? fmt::format("{} in {}", name_, how) : fmt::format("{} ({})", name_, how);
  }

 private:
  void loop(LeafArguments& inner, size_t depth) const {
    if (depth == outer_.size()) return multiply(inner);
    for (int64_t x = 0; x < extents_[outer_[depth]]; ++x) {
      inner.values[outer_[depth]] = x;
      loop(inner, depth + 1);
    }
  }

  void multiply(const LeafArguments& arguments) const {
    Box box;
    if (!finder_.find(arguments, terms_, box)) return;
    share(*kernel_for(kernels_, box), {&box, 1}, type_, arguments.overwrite, strict_ ? nullptr : arguments.team);
  }

  ElementType type_;
  bool strict_;
  std::string name_;
  BoxKernels kernels_;
  BoxTerms terms_;
  BoxFinder finder_;
  std::vector<int64_t> extents_;
  std::vector<int> outer_;
  const BoxKernel* likely_;
  bool in_register_blocks_, gains_from_joining_;
};

}  // namespace

std::unique_ptr<LeafKernel> make_library_leaf(const LeafTask& task, ElementType type, LibraryChoice choice) {
  return std::make_unique<LibraryKernel>(task, type, choice);
}

std::string explain_library_leaf(const LeafTask& task, ElementType type, LibraryChoice choice) {
  const std::string& kernel = task.part->compute()->library->kernel;
  const char* how = kernel == "syrk" ? ", one half mirrored where rows and columns have the same range"
                    : library_leaf_source(task, type, choice).empty() ? ""
                                                                      : ", in register blocks";
  return fmt::format("{}, as substitute asks{}", kernel, how);
}

std::string library_leaf_source(const LeafTask& task, ElementType type, LibraryChoice choice) {
  const Box box = BoxFinder(kernel_task(task), type).likely(single_term(task.part->compute()->terms[0]));
  return kernel_for(kernels_for(task, type, choice.compile), box)->source(box);
}

}  // namespace distal::core
