#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <string>

namespace distal::core::test {

// Sets an environment variable as long as it lives.
class Environment {
 public:
  Environment(const std::string& name, const std::string& value) : name_(name) {
    const char* old = std::getenv(name.c_str());
    had_ = old != nullptr;
    if (had_) old_ = old;
    setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() { had_ ? setenv(name_.c_str(), old_.c_str(), 1) : unsetenv(name_.c_str()); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::string name_;
  std::string old_;
  bool had_ = false;
};

// A cache of compiled leaves of the tests' own.
class CacheFolder {
 public:
  explicit CacheFolder(const std::string& path) : environment_("DISTAL_CACHE", path) { mkdir(path.c_str(), 0700); }

 private:
  Environment environment_;
};

}  // namespace distal::core::test
