#pragma once

#include <string>
#include <variant>
#include <vector>

#include "ir/fuse.h"
#include "ir/marks.h"
#include "ir/rotation.h"
#include "ir/tile.h"

namespace distal::core {

// How numbered variables derive from one another. Each has parents, whose values it recovers from those of its
// children; the shifts of a rotation are needed for that too.
using Derivation = std::variant<Tile, Fuse, Rotation>;

// The relations of a "s.t." clause. The first derive loops from other loops; the others say how loops run.
using Relation =
    std::variant<SplitRelation, DivideRelation, CollapseRelation, RotateRelation, DistributeRelation, HoldRelation,
                 EverywhereRelation, CommunicateRelation, SubstituteRelation, MarkRelation, PrecomputeRelation>;

std::string to_string(const Relation& relation);

// A relation that replaces its parents by its children: loops that it makes. One that has only some of these members
// does not compile.
template <class R>
concept DerivesLoops = requires(const R& r) {
  r.parents();
}
|| requires(const R& r) { r.children(); }
|| requires(const R& r) { r.replaced(); };

// The loops that a relation replaces, and those that it makes; none if it derives no loops.
std::vector<IndexVar> parents(const Relation& relation);
std::vector<IndexVar> children(const Relation& relation);
// Says how a relation replaced loop `v`, such as "split into io and ii"; empty if it did not.
std::string replacement(const Relation& relation, const IndexVar& v);
// Says why a relation forbids a command to replace loop `v`, such as "is distributed"; empty if it does not.
std::string obstacle(const Relation& relation, const IndexVar& v);

// The relations of one kind, in the order of the schedule.
template <class R>
std::vector<const R*> relations_of(const std::vector<Relation>& relations) {
  std::vector<const R*> out;
  for (const Relation& relation : relations) {
    if (const auto* found = std::get_if<R>(&relation)) out.push_back(found);
  }
  return out;
}

// The first relation of a kind that `is_wanted`; null if there is none.
template <class R, class Wanted>
const R* find_relation(const std::vector<Relation>& relations, Wanted is_wanted) {
  for (const Relation& relation : relations) {
    if (const auto* found = std::get_if<R>(&relation); found && is_wanted(*found)) return found;
  }
  return nullptr;
}

}  // namespace distal::core
