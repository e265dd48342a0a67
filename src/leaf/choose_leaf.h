#pragma once

#include "leaf/leaf.h"
#include "leaf/leaf_plan.h"

namespace distal::core {

// What carries out the leaf of a stage. Nothing else decides it.
LeafPlan choose_leaf(const StagePlan& stage, ElementType type, LeafChoice choice = LeafChoice::Automatic);
LeafPlan choose_part(const LeafTask& task, ElementType type, LeafChoice choice);

}  // namespace distal::core
