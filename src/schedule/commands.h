#pragma once

#include "ir/concrete.h"
#include "lang/command.h"
#include "schedule/schedule.h"

namespace distal::core {

// One overload a command: the nest after it, or an Error.
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

// The loops that a command works on, which tell in which nest of a where it does so.
std::vector<IndexVar> loops_named(const Command& command);
// Whether it works on any of these.
bool names_any(const Command& command, const std::vector<IndexVar>& loops);
// The loops that it puts in their place.
std::vector<IndexVar> loops_made(const Command& command);

}  // namespace distal::core
