#include <fmt/format.h>

#include <optional>

#include "schedule/checks.h"
#include "schedule/commands.h"

namespace distal::core {

namespace {

OutputRace race_of(const std::optional<Name>& word) {
  for (OutputRace race : {OutputRace::Reduction, OutputRace::Atomics}) {
    if (word && word->text == to_string(race)) return race;
  }
  return OutputRace::None;
}

Nest parallelize(const Nest& nest, const ScheduleContext&, const IndexVar& loop, const std::optional<Name>& how) {
  require_leaf_loop(nest, loop, "parallelize");
  OutputRace race = race_of(how);
  const std::string& output = assignment_of(nest).lhs.tensor;
  std::optional<IndexVar> sum = summed_index(nest, loop);
  if (sum && race == OutputRace::None) {
    refuse(nest, loop.span,
           fmt::format(
               "parallelize: loop {0} sums over {1}, and its iterations would add to the same element of {2} at once; "
               "use parallelize({0}, reduction) or parallelize({0}, atomics), or parallelize a loop that indexes {2}",
               loop.name, sum->name, output));
  }
  if (!sum && race != OutputRace::None) {
    refuse(nest, loop.span,
           fmt::format("parallelize: no two iterations of loop {0} add to the same element of {1}, so it needs no {2}; "
                       "write parallelize({0})",
                       loop.name, output, race == OutputRace::Reduction ? "reduction" : "atomic addition"));
  }
  Nest out = nest;
  out.relations.push_back(MarkRelation{loop, {LoopCode::Kind::Parallel, race, {}}});
  return out;
}

}  // namespace

CommandRow parallelize_command() {
  return command("parallelize", "parallelize(i), parallelize(k, reduction) or parallelize(k, atomics)", parallelize,
                 loop(), name({to_string(OutputRace::Reduction), to_string(OutputRace::Atomics)}).optional());
}

}  // namespace distal::core
