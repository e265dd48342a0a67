#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "distal/progress.h"

namespace distal::core {

// What a line of progress says: what is done now, how far it is, and how long it may still take.
std::string progress_text(const Progress::State& state);

// Shows a text several times a second, from the second quarter of a second on, until it is destroyed. A job that is
// over by then shows nothing.
class ProgressLine {
 public:
  using Source = std::function<std::string()>;
  using Sink = std::function<void(const std::string& text)>;  // an empty text removes the line
  ProgressLine(Source source, Sink sink);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  // Removes the line, until the source has a text again.
  void hide();

 private:
  void show();

  Source source_;
  Sink sink_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false, shown_ = false;
  std::thread thread_;
};

// Whether progress is shown on stderr: on a terminal only.
bool shows_progress(bool quiet);
// Replaces the line of progress on the terminal.
void show_on_terminal(const std::string& text);

}  // namespace distal::core
