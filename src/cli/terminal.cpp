#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "support/environment.h"

namespace distal::core {

namespace {

constexpr const char* kPassed = "DISTAL_TERMINAL";  // the columns, and whether there are colours
constexpr int kUsualColumns = 80, kFewestColumns = 40;
constexpr std::string_view kMark = "\033[", kEndOfMarks = "\033[0m";

// The length of a mark at the beginning of a text; 0: none is there.
size_t mark_length(std::string_view text) {
  return text.substr(0, kMark.size()) == kMark ? std::min(text.find('m'), text.size() - 1) + 1 : 0;
}

std::string without_marks(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t mark = mark_length(text);
    if (mark == 0) out += text[0];
    text.remove_prefix(std::max<size_t>(mark, 1));
  }
  return out;
}

// The text of one column: a character, and the marks before it.
struct Column {
  std::string bytes;
  char character = ' ';
  int depth = 0;  // of brackets
};

// Marks at the end of the line are part of its last column.
std::vector<Column> columns_of(std::string_view line) {
  std::vector<Column> out;
  std::string marks;
  for (int depth = 0; !line.empty();) {
    size_t length = mark_length(line);
    if (length > 0) {
      (out.empty() || line.substr(0, length) != kEndOfMarks ? marks : out.back().bytes) += line.substr(0, length);
      line.remove_prefix(length);
      continue;
    }
    auto continues = [&](size_t at) { return (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80; };
    for (length = 1; length < line.size() && continues(length);) ++length;
    if (line[0] == ')' || line[0] == ']' || line[0] == '}') --depth;
    out.push_back({marks + std::string(line.substr(0, length)), line[0], depth});
    if (line[0] == '(' || line[0] == '[' || line[0] == '{') ++depth;
    marks.clear();
    line.remove_prefix(length);
  }
  return out;
}

bool is_space(const std::vector<Column>& line, size_t at) { return at < line.size() && line[at].character == ' '; }

// Behind the indentation, and the # of a comment.
size_t first_word(const std::vector<Column>& line) {
  size_t first = !line.empty() && line[0].character == '#' ? 1 : 0;
  while (is_space(line, first)) ++first;
  return first;
}

// The indentation of a continued line: to the second column of a table of two columns, or else four columns more than
// the line.
std::string continuation_of(const std::vector<Column>& line, size_t columns) {
  bool is_comment = line[0].character == '#';
  size_t first = first_word(line), second = first;
  while (second < line.size() && !(is_space(line, second) && is_space(line, second + 1))) ++second;
  while (is_space(line, second)) ++second;
  size_t indent = second < line.size() && second <= columns / 2 ? second : first + 4;
  return (is_comment ? "#" : " ") + std::string(indent - 1, ' ');
}

// The position at which a long line is broken: the space within the fewest brackets, in the second half of the line if
// it has one there. If no space is early enough, the first one after the limit.
size_t break_of(const std::vector<Column>& line, size_t begin, size_t room) {
  size_t best = line.size(), end = begin + room;
  for (size_t half : {begin + room / 2, begin + 1}) {
    for (size_t at = half; at <= end; ++at) {
      if (is_space(line, at) && (best == line.size() || line[at].depth <= line[best].depth)) best = at;
    }
    if (best < line.size()) return best;
  }
  for (best = end; best < line.size() && !is_space(line, best);) ++best;
  return best;
}

std::string fitted(std::string_view text, size_t columns) {
  std::vector<Column> line = columns_of(text);
  if (line.size() <= columns) return std::string(text);
  std::string continuation = continuation_of(line, columns), out;
  auto append = [&](size_t begin, size_t end) {
    for (size_t at = begin; at < end; ++at) out += line[at].bytes;
  };
  size_t begin = 0, room = columns;
  while (line.size() - begin > room) {
    size_t from = begin == 0 ? first_word(line) : begin;
    size_t end = break_of(line, from, room - (from - begin));
    append(begin, end);
    for (begin = end; is_space(line, begin);) ++begin;
    if (begin == line.size()) return out;
    out += "\n" + continuation;
    room = columns - continuation.size();
  }
  append(begin, line.size());
  return out;
}

std::string marked(const char* codes, const std::string& text) {
  return fmt::format("{}{}m{}{}", kMark, codes, text, kEndOfMarks);
}

bool wants_colours() {
  std::string kind = environment("TERM");
  return environment("NO_COLOR").empty() && !kind.empty() && kind != "dumb";
}

}  // namespace

std::optional<Terminal> terminal_of_stdout(bool is_rank) {
  if (is_rank) {
    Terminal passed;
    int colours = 0;
    if (std::sscanf(environment(kPassed).c_str(), "%d %d", &passed.columns, &colours) != 2) return std::nullopt;
    passed.has_colours = colours != 0;
    return passed;
  }
  if (isatty(STDOUT_FILENO) == 0) return std::nullopt;
  winsize size{};
  int columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
  return Terminal{std::max(columns, kFewestColumns), wants_colours()};
}

void pass_terminal(const std::optional<Terminal>& terminal) {
  unsetenv(kPassed);
  if (terminal) setenv(kPassed, fmt::format("{} {:d}", terminal->columns, terminal->has_colours).c_str(), 1);
}

std::string heading(const std::string& text) { return marked("1", text); }
std::string notable(const std::string& text) { return marked("1;33", text); }
std::string good(const std::string& text) { return marked("32", text); }
std::string bad(const std::string& text) { return marked("1;31", text); }

std::string as_shown(const std::string& text, const std::optional<Terminal>& terminal) {
  std::string plain = terminal && terminal->has_colours ? text : without_marks(text), out;
  if (!terminal) return plain;
  std::string_view rest = plain;
  while (!rest.empty()) {
    size_t end = std::min(rest.find('\n'), rest.size());
    out += fitted(rest.substr(0, end), static_cast<size_t>(terminal->columns));
    if (end < rest.size()) out += '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

}  // namespace distal::core
