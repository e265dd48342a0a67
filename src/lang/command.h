#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lang/distribution.h"
#include "lang/index_notation.h"
#include "lang/machine.h"

namespace distal::core {

// A name as the user wrote it, with its place.
struct Name {
  std::string text;
  SourceSpan span;
  bool operator==(const Name&) const = default;
};

// What a distribute goes onto: a machine M, a level M[1] of one, a tensor A whose distribution is followed (A[1]
// for a level of it), or a grid written in place. Which of them a name means is found when the schedule is applied.
struct GridRef {
  Name name;                 // empty for a grid in place
  std::optional<int> level;  // the 1 of M[1]
  std::optional<Grid> grid;  // the grid in place
  // How the loops go onto it, as a tensor's dimensions would: the xy -> yx of "xy -> yx on M". Without one, in order.
  std::optional<LevelDistribution> notation;
  SourceSpan span;
  bool operator==(const GridRef&) const = default;
};
std::string to_string(const GridRef& ref);

// An argument of a scheduling command.
using Argument = std::variant<IndexVar, std::vector<IndexVar>, Name, std::vector<Name>, IntExpr, GridRef, Expr>;

// A scheduling command, as written. Its signature says what its arguments are; schedule/ says what it does.
struct Command {
  std::string name;
  std::vector<Argument> arguments;
  SourceSpan span;
  bool operator==(const Command&) const = default;
};

// What an argument of a command is.
struct Parameter {
  enum class Kind { Loop, Loops, Name, Names, Number, Onto, Part };  // in the order of Argument
  enum class Loops { Named, Made, Mentioned };                       // loops that exist, new ones, others

  Kind kind;
  Loops loops = Loops::Mentioned;    // of loops: whether the command names or makes them
  bool may_be_empty = false;         // of a list
  bool is_braced = true;             // of a list: also where it has one item
  bool may_be_spread = false;        // of the only list: its items may be written as arguments
  bool may_be_notation = false;      // of a grid: a distribution may stand before it, for the first argument's loops
  std::vector<std::string> words{};  // of a name: the only ones that are legal; empty: any
  std::string what{};                // of a number, which must be at least 1: "the size"
};

// How a command is written. Two signatures may share a name if they differ in their numbers of arguments.
struct Signature {
  std::string name;
  std::string usage;  // shown when the arguments do not fit
  std::vector<Parameter> parameters;
  size_t required = 0;  // the parameters after these may be left out

  bool takes(size_t arguments) const { return arguments >= required && arguments <= parameters.size(); }
};

// All signatures. The rows of schedule/commands.cpp have them; lang knows no command.
const std::vector<Signature>& signatures();
// The signature that a command has.
const Signature& signature_of(const Command& command);
// The names of all commands.
const std::vector<std::string>& command_names();

// Throws an Error if an argument of the right kind does not fit its parameter: a list that must not be empty, or a word
// that is none of the legal ones.
void require_fit(const Signature& signature, const Parameter& parameter, const Argument& argument,
                 const SourceSpan& span);
[[noreturn]] void refuse_argument(const Signature& signature, const std::string& expected, const SourceSpan& span);

// The loops that a command rewrites or marks. In a statement with workspaces they select the nest that it applies to.
std::vector<IndexVar> loops_named(const Command& command);
// Whether a command names any of these loops.
bool names_any(const Command& command, const std::vector<IndexVar>& loops);
// The new loops that a command makes.
std::vector<IndexVar> loops_made(const Command& command);
// What a command distributes onto; null if it names no grid.
const GridRef* onto_of(const Command& command);

std::string to_string(const Command& command);  // as in a .distal file: "split(k, ko, ki, chunk)"

}  // namespace distal::core
