// communicate, substitute, parallelize: the commands that mark loops and leave them as they are.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/checks.h"
#include "schedule/commands.h"
#include "schedule/gemm_shape.h"

namespace distal::core {

namespace {

const SubstituteRelation* substitution_of(const Nest& nest) {
  for (const Relation& r : nest.relations) {
    if (const auto* s = std::get_if<SubstituteRelation>(&r)) return s;
  }
  return nullptr;
}

void refuse_inside_kernel(const Nest& nest, const SubstituteRelation& s, const IndexVar& at, const SourceSpan& span,
                          const std::string& tensor) {
  bool inside = std::find(s.variables.begin(), s.variables.end(), at) != s.variables.end();
  if (!inside) return;
  refuse(nest, span,
         fmt::format("communicate: loop {} is inside the loops that {} replaces; communicate {} at a loop above them",
                     at.name, s.kernel.text, tensor));
}

void require_innermost(const Nest& nest, const SubstituteCommand& c) {
  size_t first = nest.loops.size() - c.variables.size();
  for (const IndexVar& v : c.variables) {
    require_loop(nest, v, "substitute");
    if (nest.is_distributed(v)) {
      refuse(nest, v.span, fmt::format("substitute: loop {} is distributed; a kernel runs on one processor", v.name));
    }
    if (nest.position(v) < first) {
      refuse(nest, v.span,
             fmt::format("substitute: the loops of a kernel must be the innermost {} loops, and {} is not among them",
                         c.variables.size(), v.name));
    }
  }
}

}  // namespace

Nest apply(const Nest& nest, const CommunicateCommand& c, const ScheduleContext&) {
  require_loop(nest, c.at, "communicate");
  const Assignment& a = assignment_of(nest);
  std::vector<std::string> tensors{a.lhs.tensor};
  for (const Access& access : accesses(a.rhs)) {
    if (std::find(tensors.begin(), tensors.end(), access.tensor) == tensors.end()) tensors.push_back(access.tensor);
  }
  Nest out = nest;
  for (const Name& tensor : c.tensors) {
    if (std::find(tensors.begin(), tensors.end(), tensor.text) == tensors.end()) {
      refuse(nest, tensor.span,
             fmt::format("communicate: tensor {} is not in this statement; its tensors are {}", tensor.text,
                         fmt::join(tensors, ", ")));
    }
    if (const SubstituteRelation* s = substitution_of(nest))
      refuse_inside_kernel(nest, *s, c.at, c.at.span, tensor.text);
    // Given twice, the later one stands.
    std::erase_if(out.relations, [&](const Relation& r) {
      const auto* old = std::get_if<CommunicateRelation>(&r);
      return old && old->tensor.text == tensor.text;
    });
    out.relations.push_back(CommunicateRelation{tensor, c.at});
  }
  return out;
}

Nest apply(const Nest& nest, const SubstituteCommand& c, const ScheduleContext&) {
  require_distinct(nest, c.variables, "substitute");
  if (const SubstituteRelation* s = substitution_of(nest)) {
    refuse(nest, c.kernel.span, fmt::format("substitute: this statement has the kernel {} already", s->kernel.text));
  }
  if (c.variables.size() > nest.loops.size()) {
    refuse(nest, c.kernel.span,
           fmt::format("substitute: {} loops are named, but there are only {}", c.variables.size(), nest.loops.size()));
  }
  require_innermost(nest, c);
  if (c.kernel.text != "gemm") {
    refuse(nest, c.kernel.span, fmt::format("substitute: there is no kernel {}; the kernels are gemm", c.kernel.text));
  }
  if (std::string why = why_not_gemm(nest, c.variables); !why.empty()) {
    refuse(nest, c.kernel.span, fmt::format("substitute: the loops are not a gemm: {}", why));
  }
  Nest out = nest;
  SubstituteRelation made{c.variables, c.kernel};
  for (const Relation& r : nest.relations) {
    if (const auto* comm = std::get_if<CommunicateRelation>(&r)) {
      refuse_inside_kernel(nest, made, comm->at, c.kernel.span, comm->tensor.text);
    }
    const auto* p = std::get_if<ParallelizeRelation>(&r);
    if (p && std::find(c.variables.begin(), c.variables.end(), p->variable) != c.variables.end()) {
      refuse(nest, c.kernel.span,
             fmt::format("substitute: loop {} is parallelized, and the kernel would replace it", p->variable.name));
    }
  }
  out.relations.push_back(made);
  return out;
}

Nest apply(const Nest& nest, const ParallelizeCommand& c, const ScheduleContext&) {
  require_loop(nest, c.variable, "parallelize");
  require_replaceable(nest, c.variable, "parallelize");
  const Assignment& a = assignment_of(nest);
  for (const IndexVar& from : origins(nest, c.variable)) {
    bool indexes_output = std::find(a.lhs.indices.begin(), a.lhs.indices.end(), from) != a.lhs.indices.end();
    if (indexes_output) continue;
    refuse(nest, c.variable.span,
           fmt::format(
               "parallelize: loop {} sums over {}, and its iterations would add to the same element of {} at once; "
               "parallelize a loop that indexes {}, or distribute {}",
               c.variable.name, from.name, a.lhs.tensor, a.lhs.tensor, c.variable.name));
  }
  Nest out = nest;
  out.relations.push_back(ParallelizeRelation{c.variable});
  return out;
}

}  // namespace distal::core
