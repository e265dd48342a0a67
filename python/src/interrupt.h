#pragma once

#include <distal/progress.h>

#include <functional>
#include <optional>
#include <utility>

namespace distal::python {

// Call it once: asks the interpreter which thread is its main one.
void remember_main_thread();

// Calls `job` without the lock of the interpreter, with the Progress that can end it: `given`, or another one. On the
// main thread, Ctrl-C cancels it. When the job has thrown Interrupted, Python raises what its own handler of the signal
// raises, or KeyboardInterrupt. If Python has no handler, the signal does what it does elsewhere.
void call_until_interrupted(Progress* given, const std::function<void(Progress*)>& job);

// The same for a job with options that have a Progress: a run, whose leaves that run now are finished first, or a
// search. Returns what the job returns.
template <class Options, class Job>
auto until_interrupted(Options options, const Job& job) {
  std::optional<decltype(job(options))> result;
  call_until_interrupted(options.progress, [&](Progress* progress) {
    options.progress = progress;
    result.emplace(job(options));
  });
  return std::move(*result);
}

}  // namespace distal::python
