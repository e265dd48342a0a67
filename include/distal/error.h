#pragma once

#include <memory>
#include <stdexcept>
#include <string>

namespace distal {

// The text a program was parsed from, kept so that an error can show the line it speaks of.
struct Source {
  std::string name;
  std::string text;
};

// A place in a source text. Lines and columns count from 1; line 0 means "no place known", as in programs made in C++.
struct SourceSpan {
  std::shared_ptr<const Source> source;
  int line = 0;
  int column = 0;
  int length = 1;

  // A place is not part of a value's identity: two equal statements stay equal when one of them moves.
  friend bool operator==(const SourceSpan&, const SourceSpan&) { return true; }
};

// The one exception that DISTAL throws for what a user can mend: the program is wrong (kind Input), or the machine
// lacks what the run needs (kind Resources). what() is the text that the command line prints.
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

}  // namespace distal
