#include "leaf/leaf_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/overloaded.h"

namespace distal::core {

namespace {

std::string how_text(const LeafPlan& plan);

std::string text_of(const InterpretedPlan& plan) {
  if (!plan.why.empty()) return plan.why + plan.no_library;
  return plan.then.empty() ? "interpreted"
                           : "interpreted as long as there is little to do, then " + how_text(plan.then[0]);
}

std::string text_of(const NestPlan& plan) {
  return plan.why.empty() ? "generated code, loop by loop" : "generated code, loop by loop, because " + plan.why;
}

std::string text_of(const BoxPlan& plan) {
  if (plan.substitute.empty()) {
    std::string out;
    for (const BoxPass& pass : plan.passes) out += (out.empty() ? "" : "; then ") + pass.how + pass.no_library;
    return out;
  }
  const BoxPass& pass = plan.passes[0];
  const char* how = plan.substitute == "syrk" ? ", one half mirrored where rows and columns have the same range"
                    : pass.kernels[pass.expected] == BoxKernelKind::RegisterBlocks ? ", in register blocks"
                                                                                   : "";
  return fmt::format("{}, as substitute asks{}", plan.substitute, how);
}

std::string kernel_text(const GpuPlan& plan) {
  if (plan.kernel == GpuKernel::Points) return "a CUDA kernel, one thread for each point of the output's loops";
  if (plan.kernel == GpuKernel::Blocks) return "a CUDA kernel whose blocks of threads have workspaces of their own";
  if (plan.along.empty()) return "a CUDA kernel of one thread";
  return plan.kernel == GpuKernel::Teams ? fmt::format("a CUDA kernel whose threads add along {} in teams", plan.along)
                                         : fmt::format("a CUDA kernel with neighbouring threads along {}", plan.along);
}

std::string text_of(const GpuPlan& plan) {
  const std::string kernel = kernel_text(plan);
  if (plan.steps) {
    return fmt::format(
        "cuBLAS for {} * {} in steps along {}, then a CUDA kernel for the rest; where that does not fit, {}",
        plan.steps->left, plan.steps->right, plan.steps->index, kernel);
  }
  return plan.blas_scale ? "cuBLAS; where it does not take the strides, " + kernel : kernel + plan.no_library;
}

std::string how_text(const LeafPlan& plan) {
  return std::visit(
      Overloaded{[](const PartsPlan&) { return std::string(); }, [](const auto& how) { return text_of(how); }},
      plan.how);
}

std::string to_string(const BoxShape& box) {
  std::vector<std::string> axes;
  for (const Axis& a : box.axes) axes.push_back(fmt::format("{} ({})", a.extent, fmt::join(a.strides, ", ")));
  return axes.empty() ? "one point" : fmt::format("{}", fmt::join(axes, " x "));
}

// The kernels of a box; further leaves below, indented.
std::string details(const LeafPlan& plan) {
  auto of_box = [](const BoxPlan& box) {
    std::string out;
    for (const BoxPass& pass : box.passes) {
      std::vector<std::string> kernels;
      for (BoxKernelKind kind : pass.kernels) kernels.push_back(to_string(kind));
      out += fmt::format("  the first that fits of: {}; likely extents (strides): {}\n", fmt::join(kernels, ", "),
                         to_string(pass.likely));
    }
    for (const LeafPlan& other : box.others) out += "  for other strides: " + how_text(other) + "\n" + details(other);
    return out;
  };
  return std::visit(Overloaded{[&](const BoxPlan& box) { return of_box(box); },
                               [](const InterpretedPlan& first) {
                                 return first.then.empty() ? std::string() : details(first.then[0]);
                               },
                               [](const auto&) { return std::string(); }},
                    plan.how);
}

std::string text(const LeafPlan& plan, bool with_details) {
  if (const auto* parts = std::get_if<PartsPlan>(&plan.how)) {
    std::string out;
    for (const LeafPlan& part : parts->parts) out += text(part, with_details);
    return out;
  }
  return fmt::format("{}: {}\n{}", plan.assignment, how_text(plan), with_details ? details(plan) : "");
}

}  // namespace

bool PartsPlan::operator==(const PartsPlan&) const = default;
bool InterpretedPlan::operator==(const InterpretedPlan&) const = default;
bool BoxPlan::operator==(const BoxPlan&) const = default;

std::string to_string(const GpuPlan& plan) { return text_of(plan); }
std::string explanation(const LeafPlan& plan) { return text(plan, false); }
std::string to_string(const LeafPlan& plan) { return text(plan, true); }

}  // namespace distal::core
