// split and divide: cut a loop into two.

#include "schedule/checks.h"
#include "schedule/commands.h"

namespace distal::core {

namespace {

template <class RelationType>
Nest tile(Nest nest, const char* command, const RelationType& relation) {
  require_loop(nest, relation.parent, command);
  require_replaceable(nest, relation.parent, command);
  require_new(nest, relation.outer, command);
  require_new(nest, relation.inner, command);
  require_distinct(nest, {relation.outer, relation.inner}, command);
  nest.replace_loop(relation.parent, {relation.outer, relation.inner});
  nest.relations.push_back(relation);
  return nest;
}

Nest split(const Nest& nest, const ScheduleContext&, const IndexVar& target, const IndexVar& outer,
           const IndexVar& inner, const IntExpr& size) {
  return tile(nest, "split", SplitRelation{target, outer, inner, size});
}

Nest divide(const Nest& nest, const ScheduleContext&, const IndexVar& target, const IndexVar& outer,
            const IndexVar& inner, const IntExpr& parts) {
  return tile(nest, "divide", DivideRelation{target, outer, inner, parts});
}

}  // namespace

CommandRow split_command() {
  return command("split", "split(k, ko, ki, size)", split, loop(), new_loop(), new_loop(), positive("the size"));
}

CommandRow divide_command() {
  return command("divide", "divide(k, ko, ki, parts)", divide, loop(), new_loop(), new_loop(),
                 positive("the number of parts"));
}

}  // namespace distal::core
