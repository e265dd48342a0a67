#include "api/calls.h"

#include <fmt/format.h>

#include "api/module_parts.h"
#include "support/text.h"

namespace distal {

namespace {

void place(auto& part, const std::string& call) {
  for_each_part(part, core::Overloaded{[span = at_call(call)](core::SourceSpan& place) {
                                         if (!place.source) place = span;  // a Program has a text
                                       },
                                       [](auto&) {}});
}

}  // namespace

core::SourceSpan at_call(const std::string& call) {
  return {std::make_shared<const core::Source>(core::Source{core::printable(call), ""}), 0, 0, 1};
}

void place_at_calls(core::Module& module) {
  for (core::Param& param : module.params) param.span = at_call("param " + param.name);
  for (core::Machine& machine : module.machines) place(machine, "machine " + machine.name);
  for (core::Tensor& tensor : module.tensors) place(tensor, "tensor " + tensor.name);
  for (core::ScheduledStatement& scheduled : module.statements) {
    place(scheduled.statement, core::to_string(scheduled.statement));
    for (core::Command& command : scheduled.schedule) {
      std::string call = fmt::format("{}.schedule().{}", scheduled.statement.lhs.tensor, core::to_string(command));
      place(command, call);
    }
  }
}

}  // namespace distal
