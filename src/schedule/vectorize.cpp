#include <fmt/format.h>

#include <algorithm>

#include "schedule/checks.h"
#include "schedule/commands.h"

namespace distal::core {

namespace {

Nest vectorize(const Nest& nest, const ScheduleContext&, const IndexVar& loop) {
  require_leaf_loop(nest, loop, "vectorize");
  std::vector<IndexVar> from = origins(nest, loop);
  const Assignment& a = assignment_of(nest);
  bool indexes = std::any_of(from.begin(), from.end(), [&](const IndexVar& v) { return contains(a.lhs.indices, v); });
  if (std::optional<IndexVar> sum = summed_index(nest, loop); sum && indexes) {
    refuse(nest, loop.span,
           fmt::format("vectorize: loop {} both indexes {} and sums over {}; vectorize a loop that does only one of "
                       "these",
                       loop.name, a.lhs.tensor, sum->name));
  }
  Nest out = nest;
  out.relations.push_back(MarkRelation{loop, {LoopCode::Kind::Vectorize, OutputRace::None, {}}});
  return out;
}

}  // namespace

CommandRow vectorize_command() { return command("vectorize", "vectorize(i)", vectorize, loop()); }

}  // namespace distal::core
