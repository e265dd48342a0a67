#pragma once

#include <sys/stat.h>

#include <string>

#include "support/environment.h"

namespace distal::core::test {

using distal::core::Environment;

// A cache of compiled leaves of the tests' own.
class CacheFolder {
 public:
  explicit CacheFolder(const std::string& path) : environment_("DISTAL_CACHE", path) { mkdir(path.c_str(), 0700); }

 private:
  Environment environment_;
};

}  // namespace distal::core::test
