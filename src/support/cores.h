#pragma once

namespace distal::core {

// How many cores this process may run on: those of the machine, less what taskset or a starter of jobs keeps from it.
int usable_cores();

}  // namespace distal::core
