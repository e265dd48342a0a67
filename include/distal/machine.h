#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "distal/param.h"

namespace distal {

// A kind of processor.
enum class Processor {
  CPU,  // a thread of the host
  GPU   // can be planned and counted; no engine runs it yet
};
// A kind of memory.
enum class Memory {
  CPU_MEM,  // of the host
  GPU_MEM   // can be planned and counted; no engine has it yet
};

// One level of a machine: a grid of abstract processors.
class Grid {
 public:
  // One number, param or expression a dimension.
  template <class... Extents>
  explicit Grid(Extents... extents) : extents_{Int(extents)...} {}
  // The same for any number of dimensions.
  explicit Grid(std::vector<Int> extents) : extents_(std::move(extents)) {}
  // Says of which kind its processors are: Grid(4).of(Processor::GPU).
  Grid& of(Processor kind) {
    processor_ = kind;
    return *this;
  }

  const std::vector<Int>& extents() const { return extents_; }  // by dimension
  Processor processor() const { return processor_; }            // the kind; CPU if none was said

 private:
  std::vector<Int> extents_;
  Processor processor_ = Processor::CPU;
};

// A machine: a grid whose processors may themselves be grids, outermost first.
class Machine {
 public:
  // One level. Without a name it gets one of its own.
  explicit Machine(Grid grid, std::string name = {});
  // Several levels: Machine({Grid(2), Grid(4)}) is 2 processors that are grids of 4.
  explicit Machine(std::vector<Grid> levels, std::string name = {});

  struct Level;
  // A level of it, for a schedule.
  Level operator[](int level) const;

  const std::vector<Grid>& levels() const { return levels_; }  // outermost first
  const std::string& name() const { return name_; }            // as errors and Kernel::text() show it

  Int x;  // the extent of the first dimension of the outermost grid
  Int y;  // of its second dimension, 1 where there is none
  Int z;  // of its third dimension, 1 where there is none

 private:
  std::vector<Grid> levels_;
  std::string name_;
};

// One level of a machine.
struct Machine::Level {
  Machine machine;  // the whole
  int level;        // 0 is the outermost
};

}  // namespace distal
