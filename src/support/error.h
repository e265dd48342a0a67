#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace distal {

// The text a program was parsed from, kept so that an error can show the line it speaks of.
struct Source {
  std::string name;
  std::string text;
};

// A place in a source text. Lines and columns count from 1; line 0 means "no place known".
struct SourceSpan {
  std::shared_ptr<const Source> source;
  int line = 0;
  int column = 0;
  int length = 1;

  // A place is not part of a value's identity: two equal statements stay equal when one of them moves.
  friend bool operator==(const SourceSpan&, const SourceSpan&) { return true; }
};

// The user's input is wrong, or the machine lacks what the run needs. The exit status of the command
// line follows from the kind.
class Error : public std::runtime_error {
 public:
  enum class Kind { Input = 2, Resources = 3 };

  explicit Error(std::string message, SourceSpan span = {}, std::string help = {}, Kind kind = Kind::Input);

  const SourceSpan& span() const { return span_; }
  const std::string& message() const { return message_; }
  const std::string& help() const { return help_; }
  Kind kind() const { return kind_; }

 private:
  std::string message_;
  SourceSpan span_;
  std::string help_;
  Kind kind_;
};

// Something that no input should be able to cause: a defect of DISTAL, never of the user's program.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// "file:line:col: error: message", the line with a caret under it, and the help. What `what()` returns.
std::string render_error(const std::string& message, const SourceSpan& span, const std::string& help);

}  // namespace distal
