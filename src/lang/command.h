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

// The scheduling commands, as written. schedule/ says what each does.
struct SplitCommand {
  IndexVar target, outer, inner;
  IntExpr size;
  bool operator==(const SplitCommand&) const = default;
};
struct DivideCommand {
  IndexVar target, outer, inner;
  IntExpr parts;
  bool operator==(const DivideCommand&) const = default;
};
struct CollapseCommand {
  IndexVar outer, inner, fused;
  bool operator==(const CollapseCommand&) const = default;
};
struct ReorderCommand {
  std::vector<IndexVar> order;
  bool operator==(const ReorderCommand&) const = default;
};
struct DistributeCommand {  // the bare form: loops that exist already
  std::vector<IndexVar> variables;
  std::optional<GridRef> onto;
  bool operator==(const DistributeCommand&) const = default;
};
struct DistributeOntoCommand {  // the compound form
  std::vector<IndexVar> targets, distributed, local;
  GridRef onto;
  bool operator==(const DistributeOntoCommand&) const = default;
};
struct CommunicateCommand {
  std::vector<Name> tensors;
  IndexVar at;
  bool operator==(const CommunicateCommand&) const = default;
};
struct RotateCommand {
  IndexVar target;
  std::vector<IndexVar> by;
  IndexVar result;
  bool operator==(const RotateCommand&) const = default;
};
struct SubstituteCommand {
  std::vector<IndexVar> variables;
  Name kernel;
  bool operator==(const SubstituteCommand&) const = default;
};
// How the threads of a parallel loop add to one element.
enum class Race {
  None,       // they do not: the loop indexes the output
  Reduction,  // each sums for itself, and the sums are added at the end of the loop
  Atomics,    // every addition is atomic
};
std::string to_string(Race race);

struct ParallelizeCommand {
  IndexVar variable;
  Race race = Race::None;
  bool operator==(const ParallelizeCommand&) const = default;
};
struct UnrollCommand {
  IndexVar variable;
  IntExpr factor;
  bool operator==(const UnrollCommand&) const = default;
};
struct VectorizeCommand {
  IndexVar variable;
  bool operator==(const VectorizeCommand&) const = default;
};
struct PrecomputeCommand {  // a part of the right side is computed into a workspace first
  Expr expr;
  std::vector<IndexVar> variables, copies;  // loops that run again in the producer, and their names there
  Name workspace;
  bool operator==(const PrecomputeCommand&) const = default;
};

struct Command {
  std::variant<SplitCommand, DivideCommand, CollapseCommand, ReorderCommand, DistributeCommand, DistributeOntoCommand,
               CommunicateCommand, RotateCommand, SubstituteCommand, ParallelizeCommand, UnrollCommand,
               VectorizeCommand, PrecomputeCommand>
      action;
  SourceSpan span;
  bool operator==(const Command&) const = default;
};

std::string to_string(const GridRef& ref);
std::string to_string(const Command& command);  // as in a .distal file: "split(k, ko, ki, chunk)"

}  // namespace distal::core
