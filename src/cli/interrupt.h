#pragma once

namespace distal::core {

// From now on Ctrl-C (SIGINT), SIGTERM and SIGHUP end the process at once: files that are not finished are removed, and
// the status is 128 and the number of the signal. With `says_so` it prints a message. A signal that is ignored, as
// below nohup, stays ignored.
void end_on_interrupt(bool says_so);

}  // namespace distal::core
