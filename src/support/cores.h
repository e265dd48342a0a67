#pragma once

namespace distal::core {

// The number of cores that this process may run on. taskset or a job launcher may allow fewer than the machine has.
int usable_cores();

}  // namespace distal::core
