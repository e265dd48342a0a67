#pragma once

#include "lang/module.h"

namespace distal::core {

// The statement that gives `to` the elements of the tensor `from`, with the schedule that runs it where `to` lives:
// every processor takes what it lacks of its pieces, in every replica, and nothing else moves. A recipe of ordinary
// commands.
ScheduledStatement redistribution(const Tensor& to, const std::string& from);

}  // namespace distal::core
