#include "interrupt.h"

#include <nanobind/nanobind.h>
#include <pthread.h>

#include <atomic>
#include <csignal>

namespace distal::python {

namespace {

namespace nb = nanobind;

pthread_t main_thread;

// What the handler uses. Only the main thread sets it, and only one job at a time is on the main thread.
std::atomic<Progress*> current = nullptr;
std::atomic<bool> arrived = false;
struct sigaction pythons;

void cancel_and_tell_python(int signal, siginfo_t* info, void* context) {
  arrived = true;
  if (Progress* progress = current) progress->cancel();
  if ((pythons.sa_flags & SA_SIGINFO) != 0) {
    pythons.sa_sigaction(signal, info, context);
  } else {
    pythons.sa_handler(signal);
  }
}

// While it exists, SIGINT cancels the job.
class CancelOnInterrupt {
 public:
  explicit CancelOnInterrupt(Progress& progress) {
    current = &progress;
    arrived = false;
    struct sigaction mine {};
    mine.sa_sigaction = cancel_and_tell_python;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGINT, &mine, &pythons);
    bool has_handler =
        (pythons.sa_flags & SA_SIGINFO) != 0 || (pythons.sa_handler != SIG_IGN && pythons.sa_handler != SIG_DFL);
    if (!has_handler) sigaction(SIGINT, &pythons, nullptr);
  }
  CancelOnInterrupt(const CancelOnInterrupt&) = delete;
  CancelOnInterrupt& operator=(const CancelOnInterrupt&) = delete;
  ~CancelOnInterrupt() {
    sigaction(SIGINT, &pythons, nullptr);
    current = nullptr;
  }
};

}  // namespace

void remember_main_thread() {
  sigaction(SIGINT, nullptr, &pythons);  // for a signal that arrives while the first handler is set
  nb::object thread = nb::module_::import_("threading").attr("main_thread")();
  main_thread = static_cast<pthread_t>(nb::cast<unsigned long>(thread.attr("ident")));
}

void call_until_interrupted(Progress* given, const std::function<void(Progress*)>& job) {
  if (pthread_equal(pthread_self(), main_thread) == 0) {
    nb::gil_scoped_release release;
    return job(given);
  }
  Progress own;
  Progress* progress = given != nullptr ? given : &own;
  try {
    nb::gil_scoped_release release;
    CancelOnInterrupt cancel(*progress);
    return job(progress);
  } catch (const Interrupted&) {
    if (!arrived) throw;
  }
  if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw nb::python_error();
}

}  // namespace distal::python
