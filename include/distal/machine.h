#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "distal/kinds.h"
#include "distal/param.h"

namespace distal {

// One level of a machine: a grid of abstract processors.
class Grid {
 public:
  // One number, param or expression per dimension.
  template <class... Extents>
  explicit Grid(Extents... extents) : extents_{Int(extents)...} {}
  // The same, with a number of dimensions that is known at run time.
  explicit Grid(std::vector<Int> extents) : extents_(std::move(extents)) {}
  // Sets the kind of the processors: Grid(4).of(Processor::GPU).
  Grid& of(Processor kind) {
    processor_ = kind;
    return *this;
  }

  const std::vector<Int>& extents() const { return extents_; }  // by dimension
  Processor processor() const { return processor_; }            // the kind; CPU by default

 private:
  std::vector<Int> extents_;
  Processor processor_ = Processor::CPU;
};

// A machine: a grid whose processors may themselves be grids, outermost first.
class Machine {
 public:
  // A machine of one level. An empty name stands for a unique generated one.
  explicit Machine(Grid grid, std::string name = {});
  // A machine of several levels: Machine({Grid(2), Grid(4)}) is 2 processors that are grids of 4.
  explicit Machine(std::vector<Grid> levels, std::string name = {});

  struct Level;
  // One level of the machine, for a schedule.
  Level operator[](int level) const;

  const std::vector<Grid>& levels() const { return levels_; }  // outermost first
  const std::string& name() const { return name_; }            // as errors and Kernel::text() show it

  Int x;  // the extent of the outermost grid's first dimension
  Int y;  // the extent of its second dimension; 1 if it has none
  Int z;  // the extent of its third dimension; 1 if it has none

 private:
  std::vector<Grid> levels_;
  std::string name_;
};

// One level of a machine.
struct Machine::Level {
  Machine machine;  // the whole machine
  int level;        // 0 is the outermost
};

}  // namespace distal
