// split, divide, collapse, reorder, rotate: the commands that rewrite loops.

#include <fmt/format.h>

#include <algorithm>

#include "schedule/checks.h"
#include "schedule/commands.h"

namespace distal::core {

namespace {

// Replaces loop `v` by the loops `with`.
void replace_loop(Nest& nest, const IndexVar& v, const std::vector<IndexVar>& with) {
  auto at = nest.loops.begin() + static_cast<std::ptrdiff_t>(nest.position(v));
  at = nest.loops.erase(at);
  nest.loops.insert(at, with.begin(), with.end());
}

template <class RelationType>
Nest tile(Nest nest, const char* command, const RelationType& relation) {
  require_loop(nest, relation.parent, command);
  require_replaceable(nest, relation.parent, command);
  require_new(nest, relation.outer, command);
  require_new(nest, relation.inner, command);
  require_distinct(nest, {relation.outer, relation.inner}, command);
  replace_loop(nest, relation.parent, {relation.outer, relation.inner});
  nest.relations.push_back(relation);
  return nest;
}

}  // namespace

Nest apply(const Nest& nest, const SplitCommand& c, const ScheduleContext&) {
  return tile(nest, "split", SplitRelation{c.target, c.outer, c.inner, c.size});
}

Nest apply(const Nest& nest, const DivideCommand& c, const ScheduleContext&) {
  return tile(nest, "divide", DivideRelation{c.target, c.outer, c.inner, c.parts});
}

Nest apply(const Nest& nest, const CollapseCommand& c, const ScheduleContext&) {
  require_distinct(nest, {c.outer, c.inner}, "collapse");
  for (const IndexVar& v : {c.outer, c.inner}) {
    require_loop(nest, v, "collapse");
    require_replaceable(nest, v, "collapse");
  }
  require_new(nest, c.fused, "collapse");
  if (nest.position(c.inner) != nest.position(c.outer) + 1) {
    refuse(nest, c.inner.span,
           fmt::format("collapse: loop {} does not stand directly inside loop {}; reorder them first", c.inner.name,
                       c.outer.name));
  }
  Nest out = nest;
  replace_loop(out, c.inner, {});
  replace_loop(out, c.outer, {c.fused});
  out.relations.push_back(CollapseRelation{c.outer, c.inner, c.fused});
  return out;
}

Nest apply(const Nest& nest, const ReorderCommand& c, const ScheduleContext&) {
  require_distinct(nest, c.order, "reorder");
  std::vector<size_t> positions;
  for (const IndexVar& v : c.order) {
    require_loop(nest, v, "reorder");
    positions.push_back(nest.position(v));
  }
  std::sort(positions.begin(), positions.end());
  Nest out = nest;
  for (size_t i = 0; i < positions.size(); ++i) out.loops[positions[i]] = c.order[i];
  return out;
}

Nest apply(const Nest& nest, const RotateCommand& c, const ScheduleContext&) {
  require_loop(nest, c.target, "rotate");
  require_replaceable(nest, c.target, "rotate");
  require_new(nest, c.result, "rotate");
  require_distinct(nest, c.by, "rotate");
  for (const IndexVar& v : c.by) {
    if (contains(nest.enclosing_loops, v)) continue;
    require_loop(nest, v, "rotate");
    if (nest.position(v) >= nest.position(c.target)) {
      refuse(
          nest, v.span,
          fmt::format("rotate: {} is not in scope at loop {}; rotate by loops that enclose it", v.name, c.target.name));
    }
  }
  Nest out = nest;
  replace_loop(out, c.target, {c.result});
  out.relations.push_back(RotateRelation{c.target, c.by, c.result});
  return out;
}

}  // namespace distal::core
