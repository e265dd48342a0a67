#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "support/unfinished_file.h"

namespace distal::core {

namespace {

void say(std::string_view text) { [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size()); }

void end_now(int signal) {
  remove_unfinished_files();
  _exit(128 + signal);
}

void say_and_end_now(int signal) {
  if (isatty(STDERR_FILENO) != 0) say("\r\033[K");  // removes the line of progress
  say("interrupted\n");
  end_now(signal);
}

}  // namespace

void end_on_interrupt(bool says_so) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    sigaction(signal, nullptr, &old);
    if (old.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = says_so ? say_and_end_now : end_now;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace distal::core
