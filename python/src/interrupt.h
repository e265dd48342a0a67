#pragma once

#include <distal/kernel.h>

#include <functional>

namespace distal::python {

// Call it once: asks the interpreter which thread is its main one.
void remember_main_thread();

// Calls `run` without the lock of the interpreter. On the main thread, Ctrl-C ends the run: the leaves that run now are
// finished, and then Python raises what its own handler of the signal raises, or KeyboardInterrupt. If Python has no
// handler, the signal does what it does elsewhere.
RunReport run_until_interrupted(const RunOptions& options, const std::function<RunReport(const RunOptions&)>& run);

}  // namespace distal::python
