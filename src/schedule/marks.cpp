// communicate, substitute, parallelize, unroll, vectorize: the commands that mark loops and do not rewrite them.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "schedule/checks.h"
#include "schedule/commands.h"
#include "schedule/kernel_shape.h"
#include "support/text.h"

namespace distal::core {

namespace {

void refuse_inside_kernel(const Nest& nest, const SubstituteRelation& s, const IndexVar& at, const SourceSpan& span,
                          const std::string& tensor) {
  bool inside = std::find(s.variables.begin(), s.variables.end(), at) != s.variables.end();
  if (!inside) return;
  refuse(nest, span,
         fmt::format("communicate: loop {} is inside the loops that {} replaces; communicate {} at a loop above them",
                     at.name, s.kernel.text, tensor));
}

// The tensors of the nest in the order of first appearance, without workspaces.
std::vector<std::string> tensors_of(const Nest& nest) {
  std::vector<std::string> tensors;
  auto add = [&](const std::string& name) {
    bool known = std::find(tensors.begin(), tensors.end(), name) != tensors.end();
    if (!known && !workspace_of(nest.relations, name)) tensors.push_back(name);
  };
  for (const Assignment& a : assignments(nest.body)) {
    add(a.lhs.tensor);
    for (const Access& access : accesses(a.rhs)) add(access.tensor);
  }
  return tensors;
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
             fmt::format("substitute: the loops of a kernel must be the innermost {}, and {} is not among them",
                         counted(static_cast<int64_t>(c.variables.size()), "loop"), v.name));
    }
  }
}

// A mark says how to generate the code of a loop, so it has no effect on a loop that a kernel replaces.
void refuse_replaced_marks(const Nest& nest, const SubstituteCommand& c) {
  for (const auto* mark : relations_of<MarkRelation>(nest.relations)) {
    if (!contains(c.variables, mark->variable)) continue;
    refuse(nest, c.kernel.span,
           fmt::format("substitute: loop {} is {}, and the kernel would replace it", mark->variable.name,
                       mark->code.done()));
  }
}

// The first index that the loop was made from and that does not index the output; none if there is no such index.
std::optional<IndexVar> summed_index(const Nest& nest, const IndexVar& loop) {
  const Assignment& a = assignment_of(nest);
  for (const IndexVar& from : origins(nest, loop)) {
    if (!contains(a.lhs.indices, from)) return from;
  }
  return std::nullopt;
}

void require_leaf_loop(const Nest& nest, const IndexVar& v, const std::string& command) {
  require_loop(nest, v, command);
  require_plain_body(nest, v, command);
  if (const LoopCode* code = code_of(nest, v)) {
    refuse(nest, v.span,
           fmt::format("{}: loop {} is {} already; split it to have both", command, v.name, code->done()));
  }
  require_replaceable(nest, v, command);
}

}  // namespace

Nest apply(const Nest& nest, const CommunicateCommand& c, const ScheduleContext&) {
  require_loop(nest, c.at, "communicate");
  std::vector<std::string> tensors = tensors_of(nest);
  Nest out = nest;
  for (const Name& tensor : c.tensors) {
    if (workspace_of(nest.relations, tensor.text)) {
      refuse(nest, tensor.span,
             fmt::format("communicate: {} is a private workspace of each processor, and is not communicated",
                         tensor.text));
    }
    if (std::find(tensors.begin(), tensors.end(), tensor.text) == tensors.end()) {
      refuse(nest, tensor.span,
             fmt::format("communicate: tensor {} is not in this statement; its tensors are {}", tensor.text,
                         fmt::join(tensors, ", ")));
    }
    if (const SubstituteRelation* s = substitution_of(nest))
      refuse_inside_kernel(nest, *s, c.at, c.at.span, tensor.text);
    // A later communicate of a tensor replaces an earlier one.
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
  if (!c.variables.empty()) require_plain_body(nest, c.variables[0], "substitute");
  if (c.variables.size() > nest.loops.size()) {
    refuse(nest, c.kernel.span,
           fmt::format("substitute: the command names {}, but the statement has only {}",
                       counted(static_cast<int64_t>(c.variables.size()), "loop"), nest.loops.size()));
  }
  require_innermost(nest, c);
  if (!is_kernel(c.kernel.text)) {
    refuse(nest, c.kernel.span,
           fmt::format("substitute: there is no kernel {}; the kernels are {}", c.kernel.text, kernel_names()));
  }
  if (std::string why = why_not_kernel(nest, c.kernel.text, c.variables); !why.empty()) {
    refuse(nest, c.kernel.span, fmt::format("substitute: the loops are not {}: {}", with_article(c.kernel.text), why));
  }
  Nest out = nest;
  SubstituteRelation made{c.variables, c.kernel};
  for (const auto* comm : relations_of<CommunicateRelation>(nest.relations)) {
    refuse_inside_kernel(nest, made, comm->at, c.kernel.span, comm->tensor.text);
  }
  refuse_replaced_marks(nest, c);
  out.relations.push_back(made);
  return out;
}

Nest apply(const Nest& nest, const ParallelizeCommand& c, const ScheduleContext&) {
  require_leaf_loop(nest, c.variable, "parallelize");
  const std::string& output = assignment_of(nest).lhs.tensor;
  std::optional<IndexVar> sum = summed_index(nest, c.variable);
  if (sum && c.race == Race::None) {
    refuse(nest, c.variable.span,
           fmt::format(
               "parallelize: loop {0} sums over {1}, and its iterations would add to the same element of {2} at once; "
               "use parallelize({0}, reduction) or parallelize({0}, atomics), or parallelize a loop that indexes {2}",
               c.variable.name, sum->name, output));
  }
  if (!sum && c.race != Race::None) {
    refuse(nest, c.variable.span,
           fmt::format("parallelize: no two iterations of loop {0} add to the same element of {1}, so it needs no {2}; "
                       "write parallelize({0})",
                       c.variable.name, output, c.race == Race::Reduction ? "reduction" : "atomic addition"));
  }
  Nest out = nest;
  out.relations.push_back(MarkRelation{c.variable, {LoopCode::Kind::Parallel, c.race, {}}});
  return out;
}

Nest apply(const Nest& nest, const UnrollCommand& c, const ScheduleContext&) {
  require_leaf_loop(nest, c.variable, "unroll");
  Nest out = nest;
  out.relations.push_back(MarkRelation{c.variable, {LoopCode::Kind::Unroll, Race::None, c.factor}});
  return out;
}

Nest apply(const Nest& nest, const VectorizeCommand& c, const ScheduleContext&) {
  require_leaf_loop(nest, c.variable, "vectorize");
  std::vector<IndexVar> from = origins(nest, c.variable);
  const Assignment& a = assignment_of(nest);
  bool indexes = std::any_of(from.begin(), from.end(), [&](const IndexVar& v) { return contains(a.lhs.indices, v); });
  if (std::optional<IndexVar> sum = summed_index(nest, c.variable); sum && indexes) {
    refuse(nest, c.variable.span,
           fmt::format("vectorize: loop {} both indexes {} and sums over {}; vectorize a loop that does only one of "
                       "these",
                       c.variable.name, a.lhs.tensor, sum->name));
  }
  Nest out = nest;
  out.relations.push_back(MarkRelation{c.variable, {LoopCode::Kind::Vectorize, Race::None, {}}});
  return out;
}

}  // namespace distal::core
