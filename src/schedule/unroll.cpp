#include "schedule/checks.h"
#include "schedule/commands.h"

namespace distal::core {

namespace {

Nest unroll(const Nest& nest, const ScheduleContext&, const IndexVar& loop, const IntExpr& factor) {
  require_leaf_loop(nest, loop, "unroll");
  Nest out = nest;
  out.relations.push_back(MarkRelation{loop, {LoopCode::Kind::Unroll, OutputRace::None, factor}});
  return out;
}

}  // namespace

CommandRow unroll_command() { return command("unroll", "unroll(i, factor)", unroll, loop(), positive("the factor")); }

}  // namespace distal::core
