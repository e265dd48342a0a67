#include "support/forks.h"

#include <pthread.h>

#include "support/spin.h"

namespace distal::core {

namespace {

int count = 0;

void begin_in_child() {
  ++count;
  forget_spinners();
}

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, begin_in_child);

}  // namespace

int forks() { return count; }

}  // namespace distal::core
