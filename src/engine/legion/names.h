#pragma once

#include <map>
#include <set>
#include <string>

#include "lang/int_expr.h"

namespace distal::core {

// The names of an emitted program: the user's own, changed if they mean something in C++ or are taken.
class CppNames {
 public:
  CppNames();
  // Gives a name of the user's program a unique C++ name, and returns that.
  const std::string& add(const std::string& name);
  // A name like the given one that nothing else has.
  std::string fresh(std::string name);
  const std::string& operator[](const std::string& name) const { return known_.at(name); }
  bool has(const std::string& name) const { return known_.count(name) > 0; }

  // An integer expression over these names, as C++.
  std::string text(const IntExpr& expr) const;

 private:
  std::string operand(const IntExpr& expr, int strength) const;

  std::set<std::string> taken_;
  std::map<std::string, std::string> known_;
};

}  // namespace distal::core
