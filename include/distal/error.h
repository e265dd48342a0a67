#pragma once

#include <memory>
#include <stdexcept>
#include <string>

namespace distal {

// The text a program was parsed from, kept so that an error can show the line it speaks of.
struct Source {
  std::string name;  // of the file, as messages show it
  std::string text;  // all of it
};

// A place in a source text. Lines and columns count from 1; line 0 means "no place known", as in programs made in C++.
struct SourceSpan {
  std::shared_ptr<const Source> source;  // null: not known
  int line = 0;                          // from 1 on; 0: not known
  int column = 0;                        // from 1 on
  int length = 1;                        // how many characters the caret underlines

  // A place is not part of a value's identity: two equal statements stay equal when one of them moves.
  friend bool operator==(const SourceSpan&, const SourceSpan&) { return true; }
};

// The one exception that DISTAL throws for what a user can mend: the program is wrong (kind Input), or the machine
// lacks what the run needs (kind Resources). what() is the text that the command line prints.
class Error : public std::runtime_error {
 public:
  // Whose turn it is. The values are the exit statuses of the command line.
  enum class Kind {
    Input = 2,      // the user's: the program or its data are wrong
    Resources = 3,  // the machine's: memory, a compiler or a kind of processor is missing
  };

  // what() is made of all of these.
  explicit Error(std::string message, SourceSpan span = {}, std::string help = {}, Kind kind = Kind::Input);

  const SourceSpan& span() const { return span_; }         // the place that it speaks of
  const std::string& message() const { return message_; }  // what is wrong, in one line
  const std::string& help() const { return help_; }        // what there is instead, or empty
  Kind kind() const { return kind_; }                      // whether the program or the machine is to be mended

 private:
  std::string message_;
  SourceSpan span_;
  std::string help_;
  Kind kind_;
};

}  // namespace distal
