#include <fmt/format.h>

#include <algorithm>

#include "schedule/checks.h"
#include "schedule/commands.h"
#include "schedule/kernel_shape.h"
#include "support/text.h"

namespace distal::core {

namespace {

void require_innermost(const Nest& nest, const std::vector<IndexVar>& variables) {
  size_t first = nest.loops.size() - variables.size();
  for (const IndexVar& v : variables) {
    require_loop(nest, v, "substitute");
    if (nest.is_distributed(v)) {
      refuse(nest, v.span, fmt::format("substitute: loop {} is distributed; a kernel runs on one processor", v.name));
    }
    if (nest.position(v) < first) {
      refuse(nest, v.span,
             fmt::format("substitute: the loops of a kernel must be the innermost {}, and {} is not among them",
                         counted(static_cast<int64_t>(variables.size()), "loop"), v.name));
    }
  }
}

Nest substitute(const Nest& nest, const ScheduleContext&, const std::vector<IndexVar>& variables, const Name& kernel) {
  require_distinct(nest, variables, "substitute");
  if (const SubstituteRelation* s = substitution_of(nest)) {
    refuse(nest, kernel.span, fmt::format("substitute: this statement has the kernel {} already", s->kernel.text));
  }
  if (!variables.empty()) require_plain_body(nest, variables[0], "substitute");
  if (variables.size() > nest.loops.size()) {
    refuse(nest, kernel.span,
           fmt::format("substitute: the command names {}, but the statement has only {}",
                       counted(static_cast<int64_t>(variables.size()), "loop"), nest.loops.size()));
  }
  require_innermost(nest, variables);
  if (!is_kernel(kernel.text)) {
    refuse(nest, kernel.span,
           fmt::format("substitute: there is no kernel {}; the kernels are {}", kernel.text, kernel_names()));
  }
  if (std::string why = why_not_kernel(nest, kernel.text, variables); !why.empty()) {
    refuse(nest, kernel.span, fmt::format("substitute: the loops are not {}: {}", with_article(kernel.text), why));
  }
  Nest out = nest;
  SubstituteRelation made{variables, kernel};
  for (const auto* c : relations_of<CommunicateRelation>(nest.relations)) {
    require_outside_kernel(nest, made, *c, kernel.span);
  }
  // A mark says how to generate the code of a loop, so it has no effect on a loop that a kernel replaces.
  for (const auto* mark : relations_of<MarkRelation>(nest.relations)) {
    if (!contains(variables, mark->variable)) continue;
    refuse(nest, kernel.span,
           fmt::format("substitute: loop {} is {}, and the kernel would replace it", mark->variable.name,
                       mark->code.done()));
  }
  out.relations.push_back(made);
  return out;
}

}  // namespace

CommandRow substitute_command() {
  return command("substitute", "substitute({i, j, k}, gemm)", substitute, loops(), name());
}

}  // namespace distal::core
