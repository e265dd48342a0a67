#pragma once

#include "ir/concrete.h"
#include "lang/command.h"
#include "schedule/schedule.h"

namespace distal::core {

// Applies a command: returns the nest after it, or throws an Error. There is one overload per command.
Nest apply(const Nest& nest, const SplitCommand& command, const ScheduleContext& context);
Nest apply(const Nest& nest, const DivideCommand& command, const ScheduleContext& context);
Nest apply(const Nest& nest, const CollapseCommand& command, const ScheduleContext& context);
Nest apply(const Nest& nest, const ReorderCommand& command, const ScheduleContext& context);
Nest apply(const Nest& nest, const RotateCommand& command, const ScheduleContext& context);
Nest apply(const Nest& nest, const DistributeCommand& command, const ScheduleContext& context);
Nest apply(const Nest& nest, const DistributeOntoCommand& command, const ScheduleContext& context);
Nest apply(const Nest& nest, const CommunicateCommand& command, const ScheduleContext& context);
Nest apply(const Nest& nest, const SubstituteCommand& command, const ScheduleContext& context);
Nest apply(const Nest& nest, const ParallelizeCommand& command, const ScheduleContext& context);
Nest apply(const Nest& nest, const UnrollCommand& command, const ScheduleContext& context);
Nest apply(const Nest& nest, const VectorizeCommand& command, const ScheduleContext& context);
Nest apply(const Nest& nest, const PrecomputeCommand& command, const ScheduleContext& context);

// The loops that a command rewrites or marks. In a statement with workspaces they select the nest that it applies to.
std::vector<IndexVar> loops_named(const Command& command);
// Whether a command names any of these loops.
bool names_any(const Command& command, const std::vector<IndexVar>& loops);
// The new loops that a command makes.
std::vector<IndexVar> loops_made(const Command& command);

}  // namespace distal::core
