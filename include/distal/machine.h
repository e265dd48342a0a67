#pragma once

#include <initializer_list>
#include <optional>
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

// A number of processors of a machine whose grid is left out, to be found: Machine M(Processors(64)).
class Processors {
 public:
  // A number, param or expression.
  explicit Processors(Int count) : count_(std::move(count)) {}
  // Sets the kind of the processors: Processors(64).of(Processor::GPU).
  Processors& of(Processor kind) {
    processor_ = kind;
    return *this;
  }

  const Int& count() const { return count_; }         // how many there are
  Processor processor() const { return processor_; }  // the kind; CPU by default

 private:
  Int count_;
  Processor processor_ = Processor::CPU;
};

// A machine: a grid whose processors may themselves be grids, outermost first.
class Machine {
 public:
  // A machine of one level. If it has no name, every program gives it one.
  explicit Machine(Grid grid, std::string name = {});
  // A machine of several levels: Machine({Grid(2), Grid(4)}) is 2 processors that are grids of 4.
  explicit Machine(std::vector<Grid> levels, std::string name = {});
  // Processors without a grid. To a distribution and a schedule they are Grid(count); for a statement without a
  // schedule a grid is found.
  explicit Machine(Processors processors, std::string name = {});
  Machine(const Machine&) = default;             // also for std::move, after which both are the same machine
  Machine& operator=(const Machine&) = default;  // the same

  // Gives a grid to processors that had none: Machine m(Processors(64)); m.as(Grid(7, 9)); Processors outside of the
  // grid idle, and own nothing. Copies that were made before have no grid.
  Machine& as(Grid grid);
  // The same with several levels, outermost first.
  Machine& as(std::vector<Grid> levels);

  struct Level;
  // One level of the machine, for a schedule.
  Level operator[](int level) const;

  const std::vector<Grid>& levels() const { return levels_; }           // outermost first
  const std::string& name() const { return name_; }                     // empty if it has none
  const std::optional<Int>& processors() const { return processors_; }  // of Processors; none: those of the grid
  bool has_grid() const { return has_grid_; }                           // false: made of Processors alone

  Int x;  // the extent of the outermost grid's first dimension
  Int y;  // the extent of its second dimension; 1 if it has none
  Int z;  // the extent of its third dimension; 1 if it has none

 private:
  std::vector<Grid> levels_;
  std::string name_;
  std::optional<Int> processors_;
  bool has_grid_ = true;
};

// One level of a machine.
struct Machine::Level {
  Machine machine;  // the whole machine
  int level;        // 0 is the outermost
};

}  // namespace distal
