#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "distal/machine.h"

namespace distal {

// The one coordinate of a machine dimension at which a tensor lives.
struct Face {
  Int at;  // counted from 0
};
// A copy of the tensor at every coordinate of a machine dimension.
struct Everywhere {};
// What a machine dimension does with a tensor: it cuts one dimension of the tensor, fixes the tensor to a face, or
// broadcasts it.
class Role {
 public:
  Role(int tensor_dimension) : role_(tensor_dimension) {}  // NOLINT: cuts this dimension of the tensor
  Role(Face face) : role_(face) {}                         // NOLINT: fixes the tensor to a face
  Role(Everywhere all) : role_(all) {}                     // NOLINT: broadcasts the tensor
  const std::variant<int, Face, Everywhere>& role() const { return role_; }  // one of the three

 private:
  std::variant<int, Face, Everywhere> role_;
};

// Where the pieces of a tensor live. Distribution tiles(m, {0, 1}) cuts dimension 0 over the machine's first dimension
// and dimension 1 over its second.
class Distribution {
 public:
  // For a machine of one level: one role per machine dimension.
  Distribution(Machine machine, std::vector<Role> roles, Memory memory = Memory::CPU_MEM);
  // For a machine of several levels: one list of roles per level.
  static Distribution hierarchical(Machine machine, std::vector<std::vector<Role>> levels,
                                   Memory memory = Memory::CPU_MEM);

  // Makes one tensor dimension block-cyclic at one machine level: blocks of `block` coordinates go to the processors in
  // turn.
  Distribution& cyclic(int tensor_dimension, Int block = Int(1), int level = 0);

  // The arguments of one call of cyclic().
  struct Cyclic {
    int tensor_dimension;  // the dimension that is block-cyclic
    Int block;             // coordinates per block
    int level;             // the machine level
  };
  const Machine& machine() const { return machine_; }                       // the machine that has the pieces
  const std::vector<std::vector<Role>>& levels() const { return levels_; }  // the roles, one list per level
  const std::vector<Cyclic>& cyclic_dimensions() const { return cyclic_; }  // those that cyclic() named
  Memory memory() const { return memory_; }                                 // the memory that has the pieces

 private:
  Machine machine_;
  std::vector<std::vector<Role>> levels_;
  std::vector<Cyclic> cyclic_;
  Memory memory_;
};

// How one dimension of a tensor is stored.
enum class ModeFormat {
  Dense  // every coordinate is stored
};
inline constexpr ModeFormat Dense = ModeFormat::Dense;  // short name, for {Dense, Dense} as in the paper

// How a tensor is stored: the format of each dimension, the storage order of the dimensions within a piece, and where
// the pieces live.
class Format {
 public:
  Format() = default;  // dense, row-major, on the first processor
  // Dense and row-major, somewhere on the machine: the distribution is left out, and found at the first compile that
  // uses the tensor. Format() is on the first processor.
  explicit Format(Machine machine);
  // Row-major pieces.
  Format(std::vector<ModeFormat> modes, Distribution distribution);
  // Pieces with dimension order[0] outermost.
  Format(std::vector<ModeFormat> modes, std::vector<int> order, Distribution distribution);
  // On the first processor, with dimension order[0] outermost.
  Format(std::vector<ModeFormat> modes, std::vector<int> order);
  // The text behind the colon of a tensor in a .distal file, such as "xy -> xy order(1, 0)", for a tensor with this
  // number of dimensions. A distribution needs the machine. Names of params in the text are those of `params`.
  static Format parse(const std::string& text, int dimensions, const std::optional<Machine>& machine = std::nullopt,
                      const std::vector<Param>& params = {});

  const std::vector<ModeFormat>& modes() const { return modes_; }  // by dimension; empty: all dense
  const std::vector<int>& order() const { return order_; }         // outermost first; empty: row-major
  const std::optional<Distribution>& distribution() const { return distribution_; }  // none: on the first processor
  const std::optional<Machine>& machine() const { return machine_; }  // of a format without a distribution

 private:
  std::vector<ModeFormat> modes_;
  std::vector<int> order_;
  std::optional<Distribution> distribution_;
  std::optional<Machine> machine_;
};

}  // namespace distal
