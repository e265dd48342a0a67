#pragma once

#include "lang/module.h"

namespace distal::core {

// A statement that copies the tensor `from` into `to`, with a schedule of ordinary commands that runs the copy where
// `to` lives. Every processor fetches the elements of its pieces of `to` that it lacks, also of replicas; nothing else
// moves.
ScheduledStatement redistribution(const Tensor& to, const std::string& from);

}  // namespace distal::core
