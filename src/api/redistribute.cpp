#include <fmt/format.h>

#include "api/state.h"
#include "distal/error.h"
#include "distal/kernel.h"

namespace distal {

namespace {

// The same tensor in another format, without its elements.
TensorHandle in_format(const TensorState& tensor, const Format& format) {
  tensor.require_format("redistribute");
  if (format.machine()) {
    throw Error(fmt::format("{}: redistribute to a format that is left out", tensor.label()), {},
                "say where it shall lie; formats are found for statements without a schedule");
  }
  return TensorHandle(tensor.type, tensor.name.empty() ? "" : tensor.name + "_redistributed", tensor.dimensions,
                      format);
}

// The kernel of the copy. The target has a name that the caller never wrote, so an error names the call instead.
Kernel kernel_into(const TensorHandle& target, const TensorHandle& source) {
  try {
    return target.copy_kernel(source);
  } catch (const Error& error) {
    SourceSpan span = error.span();
    bool names_target = span.source && span.source->name == "tensor " + target.name() && !target.name().empty();
    if (!names_target) throw;
    span.source = std::make_shared<const Source>(Source{source.name() + ".redistribute()", {}});
    throw Error(error.message(), span, error.help(), error.kind());
  }
}

}  // namespace

RunReport TensorHandle::copy_from(const TensorHandle& source, const RunOptions& options) {
  return copy_kernel(source).run(options);
}

RunReport TensorHandle::copy_from(const TensorHandle& source) { return copy_from(source, {}); }

RunReport TensorHandle::redistribute(const Format& format, const RunOptions& options) {
  require_whole(*state_, "declare a tensor of the new format, and run an MpiKernel of its copy_kernel()");
  TensorHandle target = in_format(*state_, format);
  RunReport report = kernel_into(target, *this).run(options);
  state_->take_over(*target.state_);
  return report;
}

RunReport TensorHandle::redistribute(const Format& format) { return redistribute(format, {}); }

Cost TensorHandle::redistribution_cost(const Format& format) const {
  return kernel_into(in_format(*state_, format), *this).cost();
}

}  // namespace distal
