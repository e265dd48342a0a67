#pragma once

#include <map>
#include <set>
#include <string>

#include "lang/int_expr.h"

namespace distal::core {

// The names of an emitted program: the user's own, but for those that mean something in C++ or are taken.
class CppNames {
 public:
  CppNames();
  // A name of the user's: each one has a C++ name of its own from here on.
  const std::string& add(const std::string& name);
  // A name that nothing else has.
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
