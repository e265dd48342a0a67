#include <algorithm>

#include "schedule/checks.h"
#include "schedule/commands.h"

namespace distal::core {

namespace {

Nest reorder(const Nest& nest, const ScheduleContext&, const std::vector<IndexVar>& order) {
  require_distinct(nest, order, "reorder");
  std::vector<size_t> positions;
  for (const IndexVar& v : order) {
    require_loop(nest, v, "reorder");
    positions.push_back(nest.position(v));
  }
  std::sort(positions.begin(), positions.end());
  Nest out = nest;
  for (size_t i = 0; i < positions.size(); ++i) out.loops[positions[i]] = order[i];
  return out;
}

}  // namespace

CommandRow reorder_command() { return command("reorder", "reorder({i, j, k})", reorder, loops().spread()); }

}  // namespace distal::core
