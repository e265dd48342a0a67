#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "distal/error.h"

namespace distal::core {

using distal::Error;
using distal::Source;
using distal::SourceSpan;

// A defect of DISTAL. No input of a user may cause it.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// The message and the exit status of a process that ends with an exception.
struct Failure {
  std::string text;
  int status = 0;
};
Failure failure_of(const std::exception_ptr& why);

// The text of Error::what(): "file:line:col: error: message", the source line with a caret under it, and the help.
std::string render_error(const std::string& message, const SourceSpan& span, const std::string& help);

}  // namespace distal::core
