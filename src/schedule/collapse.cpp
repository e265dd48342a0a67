#include <fmt/format.h>

#include "schedule/checks.h"
#include "schedule/commands.h"

namespace distal::core {

namespace {

Nest collapse(const Nest& nest, const ScheduleContext&, const IndexVar& outer, const IndexVar& inner,
              const IndexVar& fused) {
  require_distinct(nest, {outer, inner}, "collapse");
  for (const IndexVar& v : {outer, inner}) {
    require_loop(nest, v, "collapse");
    require_replaceable(nest, v, "collapse");
  }
  require_new(nest, fused, "collapse");
  if (nest.position(inner) != nest.position(outer) + 1) {
    refuse(nest, inner.span,
           fmt::format("collapse: loop {} does not stand directly inside loop {}; reorder them first", inner.name,
                       outer.name));
  }
  Nest out = nest;
  out.replace_loop(inner, {});
  out.replace_loop(outer, {fused});
  out.relations.push_back(CollapseRelation{outer, inner, fused});
  return out;
}

}  // namespace

CommandRow collapse_command() { return command("collapse", "collapse(i, j, f)", collapse, loop(), loop(), new_loop()); }

}  // namespace distal::core
