#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace distal {

// The leaves of a program for those who bring a runtime of their own, as the programs do that DISTAL emits: what a
// processor computes between two transfers, as fast as DISTAL's own engines do it.
class Leaves {
 public:
  // What a leaf reads or writes: element x lies at data[sum of x[d] * strides[d]], counted in elements.
  struct Operand {
    void* data = nullptr;                   // of the element at 0, 0, ..., wherever that is
    const std::int64_t* strides = nullptr;  // one a dimension
  };

  // The leaves of all statements of a program, given as text, at the given params. The element type is written as on
  // the command line, such as "double".
  Leaves(const std::string& program, const std::map<std::string, std::int64_t>& params, const std::string& type);

  // Runs the leaf of a statement, counted from 0: `values` has the loops that stand still around it, by the number of
  // their variable, `operands` its accesses, the output first, then the right side; of a statement with workspaces
  // first what reads them, then what fills them. May be called by several threads at once.
  void run(std::size_t statement, const std::vector<std::int64_t>& values, const std::vector<Operand>& operands) const;

  // Whether a run of this leaf makes its part of the output in whole, whatever that held before. Else it adds to it,
  // and the output must be zero, or have what is to be added to, before the first run.
  bool begins(std::size_t statement) const;

  // How the leaf of a statement runs, in a few words.
  std::string description(std::size_t statement) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace distal
