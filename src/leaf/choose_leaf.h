#pragma once

#include "leaf/leaf.h"
#include "leaf/leaf_plan.h"

namespace distal::core {

// What carries out the leaf of a stage on a kind of processor. Nothing else decides it. A GPU has one choice only.
LeafPlan choose_leaf(const StagePlan& stage, ElementType type, LeafChoice choice = LeafChoice::Automatic,
                     Processor processor = Processor::CPU);
LeafPlan choose_part(const LeafTask& task, ElementType type, LeafChoice choice);

}  // namespace distal::core
