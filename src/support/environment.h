#pragma once

#include <cstdlib>
#include <string>

namespace distal::core {

// The value of an environment variable; empty if it is not set.
inline std::string environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

// Sets an environment variable for the lifetime of this object, then restores it. The environment is global to the
// process, so no other thread may read or change it at the same time.
class ScopedVariable {
 public:
  ScopedVariable(const std::string& name, const std::string& value) : name_(name) {
    const char* old = std::getenv(name.c_str());
    had_ = old != nullptr;
    if (had_) old_ = old;
    setenv(name.c_str(), value.c_str(), 1);
  }
  ~ScopedVariable() { had_ ? setenv(name_.c_str(), old_.c_str(), 1) : unsetenv(name_.c_str()); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  std::string name_;
  std::string old_;
  bool had_ = false;
};

}  // namespace distal::core
