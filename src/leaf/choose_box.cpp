#include "leaf/choose_box.h"

#include <fmt/format.h>

#include <algorithm>

#include "leaf/blas_form.h"

namespace distal::core {

namespace {

std::string why_no_library(const LeafTask& task, const LeafTerm& term, ElementType type) {
  BlasForm form = blas_form(*task.part->compute(), term, task.stage->space.names, type);
  return form.why_not.empty() ? fmt::format("; {} by BLAS would be slower", form.name)
                              : "; no library, because " + form.why_not;
}

// Chooses among kernels for the passes of a box.
class PassChooser {
 public:
  // `asked`: the library is a candidate, so a pass says why it is not chosen.
  PassChooser(const LeafTask& task, ElementType type, bool asked)
      : task_(task), type_(type), asked_(asked), compute_(*task.part->compute()), finder_(task, type) {}

  // Of the kinds, those that can compute the terms. Nothing if none of them takes the likely box.
  std::optional<BoxPass> choose(std::vector<int> numbers, const std::vector<BoxKernelKind>& kinds) const {
    BoxTerms terms = box_terms(compute_, numbers);
    BoxPass out{std::move(numbers), {}, finder_.likely(terms)};
    std::unique_ptr<BoxKernel> expected;
    for (BoxKernelKind kind : kinds) {
      std::unique_ptr<BoxKernel> kernel = make_box_kernel(kind, terms.terms, type_, compute_.accumulate);
      if (!kernel) continue;
      if (!expected && kernel->takes(out.likely)) {
        out.expected = out.kernels.size();
        expected = std::move(kernel);
      }
      out.kernels.push_back(kind);
    }
    if (!expected) return std::nullopt;
    out.how = expected->explain(out.likely, names(terms));
    if (asked_ && !expected->is_library() && out.terms.size() == 1) {
      out.no_library = why_no_library(task_, compute_.terms[out.terms[0]], type_);
    }
    return out;
  }

 private:
  std::vector<std::string> names(const BoxTerms& terms) const {
    std::vector<std::string> out{to_string(compute_.assignment.lhs)};
    for (const LeafTerm& t : terms.terms) {
      for (const Access& a : accesses(t.expr)) out.push_back(to_string(a));
    }
    return out;
  }

  const LeafTask& task_;
  ElementType type_;
  bool asked_;
  const Compute& compute_;
  BoxFinder finder_;
};

// The kernels for products.
std::vector<BoxKernelKind> kinds_for(BoxChoice choice) {
  std::vector<BoxKernelKind> out;
  if (choice.library) {
    out = {BoxKernelKind::Symmetric, !choice.compile ? BoxKernelKind::Blas
                                     : choice.small  ? BoxKernelKind::BlasForLarge
                                                     : BoxKernelKind::BlasUnlessThin};
  }
  if (choice.compile) out.push_back(BoxKernelKind::RegisterBlocks);
  return out;
}

bool is_matrix_product(const LibraryLeaf& library) {
  IndicesByRole<std::vector<int>> indices;
  for (const LibraryIndex& i : library.indices) indices.of(i.role).push_back(i.variable);
  return indices.is_matrix_product();
}

}  // namespace

BoxPlan choose_box(const LeafTask& task, ElementType type, BoxChoice choice) {
  const std::vector<LeafTerm>& terms = task.part->compute()->terms;
  PassChooser chooser(task, type, choice.library);
  BoxPlan out;
  if (!choice.compile && terms.size() > 1) return out;  // the library computes one term only
  std::vector<std::vector<int>> others;                 // by pass
  std::vector<BoxKernelKind> kinds = kinds_for(choice);
  for (int t = 0; t < static_cast<int>(terms.size()); ++t) {
    if (std::optional<BoxPass> pass = chooser.choose({t}, kinds)) {
      if (choice.compile) pass->kernels.push_back(BoxKernelKind::OnePass);
      out.passes.push_back(std::move(*pass));
      continue;
    }
    auto joins = [&](const std::vector<int>& o) { return terms[o[0]].only_at_zero == terms[t].only_at_zero; };
    auto with = std::find_if(others.begin(), others.end(), joins);
    with == others.end() ? others.push_back({t}) : with->push_back(t);
  }
  for (std::vector<int>& pass : others) {
    if (choice.compile) out.passes.push_back(*chooser.choose(std::move(pass), {BoxKernelKind::OnePass}));
  }
  return out;
}

BoxPlan choose_substitute(const LeafTask& task, ElementType type, bool strict, bool compile) {
  const LibraryLeaf& library = *task.part->compute()->library;
  BoxPlan out{.substitute = library.kernel, .one_thread = strict};
  out.around.assign(task.loops.begin(), task.loops.end() - static_cast<std::ptrdiff_t>(library.indices.size()));
  std::vector<BoxKernelKind> kinds;
  if (library.kernel == "syrk") kinds.push_back(BoxKernelKind::Symmetric);
  if (compile && is_matrix_product(library)) {
    kinds.insert(kinds.end(), {BoxKernelKind::BlasForLarge, BoxKernelKind::RegisterBlocks});
  }
  kinds.insert(kinds.end(), {BoxKernelKind::Blas, BoxKernelKind::PlainLoops});
  out.passes.push_back(*PassChooser(box_task(task, out), type, false).choose({0}, kinds));
  return out;
}

std::string why_no_library(const LeafTask& task, ElementType type) {
  const std::vector<LeafTerm>& terms = task.part->compute()->terms;
  return terms.size() == 1 ? why_no_library(task, terms[0], type) : "";
}

LeafTask box_task(const LeafTask& task, const BoxPlan& plan) {
  LeafTask out = task;
  out.loops.erase(out.loops.begin(), out.loops.begin() + static_cast<std::ptrdiff_t>(plan.around.size()));
  return out;
}

}  // namespace distal::core
