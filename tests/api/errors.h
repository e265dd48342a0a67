#pragma once

#include <distal/distal.h>

#include <string>

namespace distal {

template <class F, class Tell>
std::string thrown_by(const F& f, const Tell& tell) {
  try {
    f();
  } catch (const Error& e) {
    return tell(e);
  }
  return "no error";
}

// The whole text of the Error that f throws, with its position and its help.
template <class F>
std::string error_of(const F& f) {
  return thrown_by(f, [](const Error& e) { return std::string(e.what()); });
}

// Only the message of that Error.
template <class F>
std::string message_of(const F& f) {
  return thrown_by(f, [](const Error& e) { return e.message(); });
}

}  // namespace distal
