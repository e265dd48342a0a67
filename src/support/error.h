#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "distal/error.h"

namespace distal::core {

using distal::Error;
using distal::Source;
using distal::SourceSpan;

// Something that no input should be able to cause: a defect of DISTAL, never of the user's program.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// What is said of an exception that ends a process, and the exit status that goes with it.
struct Failure {
  std::string text;
  int status = 0;
};
Failure failure_of(const std::exception_ptr& why);

// "file:line:col: error: message", the line with a caret under it, and the help. What `what()` returns.
std::string render_error(const std::string& message, const SourceSpan& span, const std::string& help);

}  // namespace distal::core
