#include "ir/deal_out.h"

namespace distal::core {

void deal_out(const IndexVar& target, const DealtLoops& loops, const IntExpr& parts, int level, int dimension,
              std::vector<Relation>& relations) {
  if (loops.cyclic) {
    const auto& [number, round, block] = *loops.cyclic;
    relations.push_back(SplitRelation{target, number, loops.inside, block});
    relations.push_back(SplitRelation{number, round, loops.coordinate, parts});
  } else {
    relations.push_back(DivideRelation{target, loops.coordinate, loops.inside, parts});
  }
  relations.push_back(DistributeRelation{loops.coordinate, level, dimension});
}

}  // namespace distal::core
