#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "distal/machine.h"

namespace distal {

// What a machine dimension does with a tensor: cuts one of its dimensions, fixes it to a face, or broadcasts it.
struct Face {
  Int at;
};
struct Everywhere {};
class Role {
 public:
  Role(int tensor_dimension) : role_(tensor_dimension) {}  // NOLINT: {0, 1} reads like the paper
  Role(Face face) : role_(face) {}                         // NOLINT
  Role(Everywhere all) : role_(all) {}                     // NOLINT
  const std::variant<int, Face, Everywhere>& role() const { return role_; }

 private:
  std::variant<int, Face, Everywhere> role_;
};

// Where the pieces of a tensor live. Distribution tiles(m, {0, 1}) cuts dimension 0 over the machine's first dimension
// and dimension 1 over its second.
class Distribution {
 public:
  Distribution(Machine machine, std::vector<Role> roles, Memory memory = Memory::CPU_MEM);
  // For a machine of several levels: one list of roles a level.
  static Distribution hierarchical(Machine machine, std::vector<std::vector<Role>> levels,
                                   Memory memory = Memory::CPU_MEM);

  // Deals blocks of `block` coordinates of a tensor dimension out in turn, at one level.
  Distribution& cyclic(int tensor_dimension, Int block = Int(1), int level = 0);

  struct Cyclic {
    int tensor_dimension;
    Int block;
    int level;
  };
  const Machine& machine() const { return machine_; }
  const std::vector<std::vector<Role>>& levels() const { return levels_; }
  const std::vector<Cyclic>& cyclic_dimensions() const { return cyclic_; }
  Memory memory() const { return memory_; }

 private:
  Machine machine_;
  std::vector<std::vector<Role>> levels_;
  std::vector<Cyclic> cyclic_;
  Memory memory_;
};

enum class ModeFormat { Dense };
inline constexpr ModeFormat Dense = ModeFormat::Dense;

// How a tensor is stored: which modes it has, in which order a piece stores them, and where the pieces live.
class Format {
 public:
  Format() = default;  // dense, row-major, on the first processor
  Format(std::vector<ModeFormat> modes, Distribution distribution);
  Format(std::vector<ModeFormat> modes, std::vector<int> order, Distribution distribution);
  Format(std::vector<ModeFormat> modes, std::vector<int> order);

  const std::vector<int>& order() const { return order_; }  // outermost first; empty: as declared
  const std::optional<Distribution>& distribution() const { return distribution_; }

 private:
  std::vector<ModeFormat> modes_;
  std::vector<int> order_;
  std::optional<Distribution> distribution_;
};

}  // namespace distal
