#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace distal {

// The leaves of a program, for another runtime: what a processor computes between two transfers, at the speed of
// DISTAL's own engines. Emitted Legion programs use this class if they are built with DISTAL.
class Leaves {
 public:
  // A tensor that a leaf reads or writes. Element x is data[sum of x[d] * strides[d]], counted in elements.
  struct Operand {
    void* data = nullptr;                   // the address of element (0, 0, ...), which may lie outside of the memory
    const std::int64_t* strides = nullptr;  // one per dimension
  };

  // Makes the leaves of all statements of a program, given as text, for these params. The element type is spelled as on
  // the command line, such as "double". `variables` has for each statement the names of the variables and loops whose
  // values run() takes, in that order.
  Leaves(const std::string& program, const std::map<std::string, std::int64_t>& params, const std::string& type,
         const std::vector<std::vector<std::string>>& variables);

  // Runs the leaf of a statement; statements count from 0. `values` has the value of each variable that is a loop
  // around the leaf; those of others do not matter. `operands` has one entry per access: first the output, then those
  // of the right side. In a statement with workspaces the accesses of the consumer come first, then those of the
  // producer. Several threads may call this at once.
  void run(std::size_t statement, const std::vector<std::int64_t>& values, const std::vector<Operand>& operands) const;

  // Whether one run of this leaf overwrites its part of the output completely. Otherwise the leaf adds to the output:
  // before the first run the caller sets it to zero or, for +=, to the value to add to.
  bool begins(std::size_t statement) const;

  // A short description of how the leaf of a statement runs.
  std::string description(std::size_t statement) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace distal
