#pragma once

namespace distal::core {

// The number of forks between the start of the program and this process. A forked child has none of the threads that
// its parent started: what owns threads compares this number with that of when it started them.
int forks();

}  // namespace distal::core
