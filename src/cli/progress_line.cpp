#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

#include "support/text.h"

namespace distal::core {

namespace {

constexpr auto kInterval = std::chrono::milliseconds(250);

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::max(1.0, seconds));
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string progress_text(const Progress::State& state) {
  if (state.what.empty()) return "";
  if (state.total <= 0 || state.done <= 0) return fmt::format("{} ({})", state.what, duration_text(state.seconds));
  double part = std::min(1.0, static_cast<double>(state.done) / static_cast<double>(state.total));
  std::string out = fmt::format("{}: {:.0f} %", state.what, 100 * part);
  if (state.seconds < 1) return out;
  return out + fmt::format(", about {} left", duration_text(state.seconds * (1 - part) / part));
}

ProgressLine::ProgressLine(Source source, Sink sink) : source_(std::move(source)), sink_(std::move(sink)) {
  try {
    thread_ = std::thread([this] { show(); });
  } catch (const std::system_error&) {  // no thread is left: go without progress
  }
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void ProgressLine::show() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kInterval, [&] { return end_; })) {
    std::string text = source_();
    if (!text.empty() || shown_) sink_(text);
    shown_ = !text.empty();
  }
  if (shown_) sink_("");
}

void ProgressLine::hide() {
  std::lock_guard lock(mutex_);
  if (shown_) sink_("");
  shown_ = false;
}

bool shows_progress(bool quiet) { return !quiet && isatty(STDERR_FILENO) != 0; }

void show_on_terminal(const std::string& text) {
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
}

}  // namespace distal::core
