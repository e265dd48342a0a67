#pragma once

#include <optional>
#include <string>

namespace distal::core {

// What a terminal can show.
struct Terminal {
  int columns = 80;
  bool has_colours = false;
};

// The terminal of stdout; none in a pipe. NO_COLOR turns colours off. A rank of a job has the terminal of the process
// that started the job, which `pass_terminal` has told it.
std::optional<Terminal> terminal_of_stdout(bool is_rank);
void pass_terminal(const std::optional<Terminal>& terminal);

// Marks a part of a text for a terminal with colours.
std::string heading(const std::string& text);
std::string notable(const std::string& text);
std::string good(const std::string& text);
std::string bad(const std::string& text);

// A marked text as it is printed. Without a terminal it is the plain text. On a terminal lines that are too long go on
// in indented lines, those of a comment with a # of their own. A word that is too long stays as it is.
std::string as_shown(const std::string& text, const std::optional<Terminal>& terminal);

}  // namespace distal::core
