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

}  // namespace

RunReport TensorHandle::copy_from(const TensorHandle& source, const RunOptions& options) {
  return copy_kernel(source).run(options);
}

RunReport TensorHandle::copy_from(const TensorHandle& source) { return copy_from(source, {}); }

RunReport TensorHandle::redistribute(const Format& format, const RunOptions& options) {
  require_whole(*state_, "declare a tensor of the new format, and run an MpiKernel of its copy_kernel()");
  TensorHandle target = in_format(*state_, format);
  RunReport report = target.copy_from(*this, options);
  state_->take_over(*target.state_);
  return report;
}

RunReport TensorHandle::redistribute(const Format& format) { return redistribute(format, {}); }

Cost TensorHandle::redistribution_cost(const Format& format) const {
  return in_format(*state_, format).copy_kernel(*this).cost();
}

}  // namespace distal
