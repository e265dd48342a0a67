#include <fmt/format.h>

#include "schedule/checks.h"
#include "schedule/commands.h"

namespace distal::core {

namespace {

Nest rotate(const Nest& nest, const ScheduleContext&, const IndexVar& target, const std::vector<IndexVar>& by,
            const IndexVar& result) {
  require_loop(nest, target, "rotate");
  require_replaceable(nest, target, "rotate");
  require_new(nest, result, "rotate");
  require_distinct(nest, by, "rotate");
  for (const IndexVar& v : by) {
    if (contains(nest.enclosing_loops, v)) continue;
    require_loop(nest, v, "rotate");
    if (nest.position(v) >= nest.position(target)) {
      refuse(
          nest, v.span,
          fmt::format("rotate: {} is not in scope at loop {}; rotate by loops that enclose it", v.name, target.name));
    }
  }
  Nest out = nest;
  out.replace_loop(target, {result});
  out.relations.push_back(RotateRelation{target, by, result});
  return out;
}

}  // namespace

CommandRow rotate_command() {
  return command("rotate", "rotate(k, {i, j}, r)", rotate, loop(), other_loops(), new_loop());
}

}  // namespace distal::core
