#include "lower/place.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/deal_out.h"

namespace distal::core {

namespace {

std::string at_level(const std::string& name, size_t level) { return level == 0 ? name : name + std::to_string(level); }

// Makes names that are not taken yet. A user's dimension names may repeat between levels, and may look like made ones.
class FreshNames {
 public:
  explicit FreshNames(const std::vector<std::string>& taken) : taken_(taken.begin(), taken.end()) {}
  IndexVar make(std::string name) {
    while (!taken_.insert(name).second) name += "_";
    return {name, {}};
  }

 private:
  std::set<std::string> taken_;
};

std::vector<std::string> dimension_names(const Tensor& tensor) {
  if (tensor.distribution && !tensor.distribution->levels.empty())
    return tensor.distribution->levels[0].tensor_dimensions;
  std::vector<std::string> names;
  for (size_t d = 0; d < tensor.dimensions.size(); ++d) names.push_back("d" + std::to_string(d));
  return names;
}

}  // namespace

Stmt placement_of(const Tensor& tensor) {
  // 1. Make a variable for every name of X and Y, and for every broadcast dimension, which has no name.
  std::vector<std::string> names = dimension_names(tensor);
  Access access{tensor.name, {}, {}};
  for (const std::string& name : names) access.indices.push_back({name, {}});
  std::vector<IndexVar> current = access.indices;  // the variable of each tensor dimension to divide next

  std::vector<IndexVar> distributed, rounds;
  std::vector<std::optional<IndexVar>> round_of(names.size());  // the round variable of a cyclic dimension
  FreshNames fresh(names);
  std::vector<Relation> relations;
  size_t levels = tensor.distribution ? tensor.distribution->levels.size() : 0;
  for (size_t l = 0; l < levels; ++l) {
    const LevelDistribution& level = tensor.distribution->levels[l];
    for (size_t m = 0; m < level.machine_dimensions.size(); ++m) {
      const auto& role = level.machine_dimensions[m].role;
      int level_number = static_cast<int>(l);
      int dimension = static_cast<int>(m);
      if (const auto* fix = std::get_if<Fix>(&role)) {
        // 2. Restrict a fixed dimension to its value.
        relations.push_back(HoldRelation{level_number, dimension, fix->face});
      } else if (const auto* partition = std::get_if<Partition>(&role)) {
        // 4. Divide by the machine dimension and distribute the outer variable.
        size_t d = level.dimension_of(*partition);
        std::string base = at_level(names[d], l);
        if (round_of[d]) {
          // The piece of the level above consists of all its blocks, one after another.
          IndexVar piece = fresh.make(base + "_piece");
          relations.push_back(CollapseRelation{*round_of[d], current[d], piece});
          std::erase(rounds, *round_of[d]);
          round_of[d].reset();
          current[d] = piece;
        }
        DealtLoops loops{fresh.make(base + "o"), fresh.make(base + "i"), {}};
        if (std::optional<IntExpr> block = level.block_of(*partition)) {
          loops.cyclic = {fresh.make(base + "_block"), fresh.make(base + "_round"), *block};
          rounds.push_back(loops.cyclic->round);
          round_of[d] = loops.cyclic->round;
        }
        deal_out(current[d], loops, tensor.machine->levels[l].extents[m], level_number, dimension, relations);
        distributed.push_back(loops.coordinate);
        current[d] = loops.inside;
      } else {
        IndexVar everywhere = fresh.make(at_level("b" + std::to_string(m), l));
        relations.push_back(DistributeRelation{everywhere, level_number, dimension});
        distributed.push_back(everywhere);
      }
    }
  }
  // 5. Communicate the tensor underneath all distributed variables.
  if (!distributed.empty()) {
    relations.push_back(CommunicateRelation{Name{tensor.name, {}}, (rounds.empty() ? distributed : rounds).back()});
  }
  // 3. Put the variables of Y outermost.
  std::vector<IndexVar> loops = distributed;
  loops.insert(loops.end(), rounds.begin(), rounds.end());
  loops.insert(loops.end(), current.begin(), current.end());
  return to_stmt(Nest{loops, Assignment{access, AssignOp::Assign, access}, relations, {}});
}

}  // namespace distal::core
