#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "distal/param.h"

namespace distal {

enum class Processor { CPU, GPU };
enum class Memory { CPU_MEM, GPU_MEM };

// One level of a machine: a grid of abstract processors.
class Grid {
 public:
  template <class... Extents>
  explicit Grid(Extents... extents) : extents_{Int(extents)...} {}
  Grid& of(Processor kind) {
    processor_ = kind;
    return *this;
  }

  const std::vector<Int>& extents() const { return extents_; }
  Processor processor() const { return processor_; }

 private:
  std::vector<Int> extents_;
  Processor processor_ = Processor::CPU;
};

// A machine: a grid whose processors may themselves be grids, outermost first.
class Machine {
 public:
  explicit Machine(Grid grid, std::string name = {});
  explicit Machine(std::vector<Grid> levels, std::string name = {});

  // A level of it, for a schedule.
  struct Level;
  Level operator[](int level) const;

  const std::vector<Grid>& levels() const { return levels_; }
  const std::string& name() const { return name_; }

  // The extents of the first three dimensions of the outermost grid, 1 where there is none.
  Int x, y, z;

 private:
  std::vector<Grid> levels_;
  std::string name_;
};

struct Machine::Level {
  Machine machine;
  int level;
};

}  // namespace distal
