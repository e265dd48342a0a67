#pragma once

#include <set>
#include <string>
#include <vector>

#include "lang/module.h"
#include "tune/candidate.h"

namespace distal::core {

// The machine of a candidate, named `name`. A candidate without levels gets one processor.
Machine machine_of(const Candidate& candidate, const std::string& name);

// The distribution of a tensor with a free format over that machine. Its blocks are expressions over the sizes of the
// tensors, so it is legal for any sizes.
Distribution distribution_of(const Module& module, const Statement& statement, const StatementShape& shape,
                             const Candidate& candidate, int tensor);

// The commands of the candidate's schedule, onto a machine of this name. New loops have none of the names `taken`.
std::vector<Command> schedule_of(const Module& module, const Statement& statement, const StatementShape& shape,
                                 const Candidate& candidate, const std::string& machine,
                                 const std::set<std::string>& taken = {});

}  // namespace distal::core
