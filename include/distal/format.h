#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "distal/machine.h"

namespace distal {

// The one coordinate of a machine dimension at which a tensor lives.
struct Face {
  Int at;  // from 0 on
};
// A copy of the tensor at every coordinate of a machine dimension.
struct Everywhere {};
// What a machine dimension does with a tensor: cuts one of its dimensions, fixes it to a face, or broadcasts it.
class Role {
 public:
  Role(int tensor_dimension) : role_(tensor_dimension) {}  // NOLINT: cuts it, and {0, 1} reads like the paper
  Role(Face face) : role_(face) {}                         // NOLINT: fixes the tensor to a face
  Role(Everywhere all) : role_(all) {}                     // NOLINT: broadcasts the tensor
  const std::variant<int, Face, Everywhere>& role() const { return role_; }  // which of the three

 private:
  std::variant<int, Face, Everywhere> role_;
};

// Where the pieces of a tensor live. Distribution tiles(m, {0, 1}) cuts dimension 0 over the machine's first dimension
// and dimension 1 over its second.
class Distribution {
 public:
  // For a machine of one level: one role a dimension of the machine.
  Distribution(Machine machine, std::vector<Role> roles, Memory memory = Memory::CPU_MEM);
  // For a machine of several levels: one list of roles a level.
  static Distribution hierarchical(Machine machine, std::vector<std::vector<Role>> levels,
                                   Memory memory = Memory::CPU_MEM);

  // Deals blocks of `block` coordinates of a tensor dimension out in turn, at one level.
  Distribution& cyclic(int tensor_dimension, Int block = Int(1), int level = 0);

  // What cyclic() said.
  struct Cyclic {
    int tensor_dimension;  // which is dealt out
    Int block;             // so many coordinates at a time
    int level;             // of the machine
  };
  const Machine& machine() const { return machine_; }                       // onto which
  const std::vector<std::vector<Role>>& levels() const { return levels_; }  // the roles, one list a level
  const std::vector<Cyclic>& cyclic_dimensions() const { return cyclic_; }  // all others are cut into blocks
  Memory memory() const { return memory_; }                                 // in which the pieces lie

 private:
  Machine machine_;
  std::vector<std::vector<Role>> levels_;
  std::vector<Cyclic> cyclic_;
  Memory memory_;
};

// How one dimension of a tensor is stored.
enum class ModeFormat {
  Dense  // every coordinate is
};
inline constexpr ModeFormat Dense = ModeFormat::Dense;  // for {Dense, Dense}, as in the paper

// How a tensor is stored: which modes it has, in which order a piece stores them, and where the pieces live.
class Format {
 public:
  Format() = default;  // dense, row-major, on the first processor
  // Row-major pieces.
  Format(std::vector<ModeFormat> modes, Distribution distribution);
  // Pieces whose dimension order[0] is the outermost.
  Format(std::vector<ModeFormat> modes, std::vector<int> order, Distribution distribution);
  // On the first processor, in an order of its own.
  Format(std::vector<ModeFormat> modes, std::vector<int> order);

  const std::vector<int>& order() const { return order_; }  // outermost first; empty: as declared
  const std::optional<Distribution>& distribution() const { return distribution_; }  // none: on the first processor

 private:
  std::vector<ModeFormat> modes_;
  std::vector<int> order_;
  std::optional<Distribution> distribution_;
};

}  // namespace distal
