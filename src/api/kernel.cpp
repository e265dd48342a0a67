#include "distal/kernel.h"

#include <chrono>

#include "api/kernel_state.h"
#include "lower/compile.h"
#include "plan/certificate.h"
#include "plan/cost.h"
#include "plan/print.h"
#include "view/page.h"
#include "view/picture.h"

namespace distal {

Kernel::Kernel(const std::vector<TensorHandle>& tensors, const FindOptions& find)
    : state_(std::make_shared<State>(all_defined(tensors), find_here(find))) {}

Kernel TensorHandle::copy_kernel(const TensorHandle& source) const {
  return Kernel(std::make_shared<Kernel::State>(std::vector<DefinedTensor>{defined_as_copy(state_, source.state_)}));
}

RunReport Kernel::run(const RunOptions& options) const {
  SessionPtr session = state_->take(options);
  auto start = std::chrono::steady_clock::now();
  session->watch(options.progress);
  core::RunCounts counts = session->run();
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  RunReport report{taken.count(),   counts.bytes_moved,   counts.bytes_copied,
                   counts.messages, session->peak_here(), session->resident_bytes()};
  state_->put_back(std::move(session));
  return report;
}

std::string Kernel::text() const {
  state_->refresh();
  return core::to_string(state_->built.module);
}

std::string Kernel::program() const {
  state_->refresh();
  return core::to_string(*state_->program);
}

std::string Kernel::plan() const { return core::to_string(state_->prepare()->plan()); }

namespace {

nlohmann::ordered_json picture_of_kernel(const core::Plan& plan) {
  const std::vector<core::ScheduledStatement>& statements = plan.program->module.statements;
  return core::picture_of(plan, core::to_string(statements.front().statement));
}

}  // namespace

std::string Kernel::page() const { return core::page_of(picture_of_kernel(state_->prepare()->plan())); }

std::string Kernel::picture() const { return picture_of_kernel(state_->prepare()->plan()).dump(); }

Cost Kernel::cost() const { return core::count_cost(state_->prepare()->plan()); }

std::vector<Certificate> Kernel::certificates() const { return core::certificates(state_->prepare()->plan()); }

}  // namespace distal
