#pragma once

#include <sys/stat.h>

#include <string>

#include "support/environment.h"

namespace distal::core::test {

using distal::core::ScopedVariable;

// While it lives, compiled leaves are cached in the folder `path`, not in the user's cache.
class CacheFolder {
 public:
  explicit CacheFolder(const std::string& path) : environment_("DISTAL_CACHE", path) { mkdir(path.c_str(), 0700); }

 private:
  ScopedVariable environment_;
};

}  // namespace distal::core::test
