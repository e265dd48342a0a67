#pragma once

#include <memory>
#include <stdexcept>
#include <string>

namespace distal {

// What a program was read from. Errors keep it to show the line that they refer to.
struct Source {
  std::string name;  // the file name; for a program made in C++ the object or the call, as in "tensor A"
  std::string text;  // the whole text; empty for a program made in C++
};

// The place of a part of a program: a position in a text, or a call in C++.
struct SourceSpan {
  std::shared_ptr<const Source> source;  // null: unknown
  int line = 0;                          // counted from 1; 0: unknown, or a call
  int column = 0;                        // counted from 1
  int length = 1;                        // the number of characters to underline

  // Always true: positions do not count when two statements are compared.
  friend bool operator==(const SourceSpan&, const SourceSpan&) { return true; }
};

// The exception that DISTAL throws for every problem that a user can fix: an error in the program or its data (kind
// Input), or something that the machine lacks (kind Resources). what() is the text that the command line prints.
class Error : public std::runtime_error {
 public:
  // The cause. The values are the exit statuses of the command line.
  enum class Kind {
    Input = 2,      // the program, its data or an option is wrong
    Resources = 3,  // the machine lacks memory, a compiler, a library or a kind of processor
  };

  // Builds what() from the message, the place and the help.
  explicit Error(std::string message, SourceSpan span = {}, std::string help = {}, Kind kind = Kind::Input);

  const SourceSpan& span() const { return span_; }         // the place in the program, if it is known
  const std::string& message() const { return message_; }  // what is wrong
  const std::string& help() const { return help_; }        // how to fix it, or what is legal; may be empty
  Kind kind() const { return kind_; }                      // whether the input or the machine is the cause

 private:
  std::string message_;
  SourceSpan span_;
  std::string help_;
  Kind kind_;
};

}  // namespace distal
