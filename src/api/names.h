#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lang/module.h"

namespace distal {

// The names that the handles of one module get in place of their keys: the user's names, or names made up in the order
// of the handles, so that the same program always has the same names.
class Names {
 public:
  // Adds a handle that may occur in the module. If it has no name of its own, a made-up name begins with `prefix`.
  void add(const std::string& key, const std::string& name, char prefix);
  // Returns the names by key.
  std::map<std::string, std::string> apply(core::Module& module) const;

 private:
  struct Handle {
    std::string key, name;
    char prefix;
  };
  // Made-up names differ from all names that the user gave.
  std::map<std::string, std::string> by_key(const core::Module& module) const;

  std::vector<Handle> handles_;
  std::set<std::string> keys_;
};

}  // namespace distal
