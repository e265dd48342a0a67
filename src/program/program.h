#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/concrete.h"
#include "ir/iteration_space.h"
#include "lang/module.h"

namespace distal::core {

// The narrow waist: a distributed program as plain data, every number an expression over params and loop variables.

struct Node;
using NodePtr = std::shared_ptr<const Node>;

// One point per processor: the launch's variables take the processor's coordinates in the machine.
struct LaunchDimension {
  int variable;   // in the stage's space
  int level;      // of the machine
  int dimension;  // of that level's grid
};
struct Launch {
  std::vector<LaunchDimension> dimensions;
  NodePtr body;
};

struct Loop {
  int variable;
  NodePtr body;
};

enum class Privilege { Read, Write, Reduce };

// A rectangle whose bounds are expressions, one interval a tensor dimension.
struct SymbolicRect {
  std::vector<IntExpr> lo, hi;
};

// From here, the processor has what its accesses touch below. `place_levels` says who that processor is: with all of
// the machine's levels it is one processor; with fewer it is a processor of an upper level, whose parts share what it
// acquires. It keeps a rectangle until it asks for a different one; a written rectangle then goes home, a partial one
// is combined, level by level.
struct Acquire {
  int id = 0;  // counts from 0 within the stage
  std::string tensor;
  Privilege privilege = Privilege::Read;
  std::vector<std::vector<int>> accesses;  // the distinct index tuples, as variables of the space
  std::vector<SymbolicRect> rects;         // one an access
  bool exact = true;
  // Of what is read, the sequential loops further in that leave holes in the rectangles, as those over blocks that are
  // dealt out do. An index is acquired where it lies for one of their values, and not in between.
  std::vector<int> blocks;
  bool exact_in_blocks = false;
  int place_levels = 1;
  std::vector<int> fixed;     // the variables that stand still here; all others run
  std::optional<int> parent;  // the acquire whose memory takes the place of home: partials below a shared output
  std::string at;             // the loop it was asked at, empty at the root
  bool by_default = false;    // no communicate named it
  NodePtr body;
};

// What a processor runs between two acquires: a nest of loops around an assignment, or around the producers of
// workspaces and their consumer, each again a nest.
struct LeafAccess {
  std::vector<int> indices;  // variables of the space
  int acquire = 0;           // which acquire brings it,
  int rect = 0;              // and which of its rectangles
};

// Memory of the processor's own, filled anew each time its producer runs.
struct Workspace {
  std::string name;
  std::vector<int> indices;  // its dimensions: variables of its producer
  std::vector<int> runs;     // the loops of its producer
};

// What an assignment reads or writes: an access of the leaf, or, counted on behind them, a workspace.
struct LeafOperand {
  std::vector<int> indices;
  int number = 0;
};

// An addend of the right side, and the variables at whose first iteration alone it contributes: those of the sums
// that it takes no part in.
struct LeafTerm {
  bool negated = false;
  Expr expr;
  std::vector<int> only_at_zero;
  int first_operand = 0;  // the number of its first operand among the assignment's
};

// A kernel of a library that takes the place of the innermost loops: operand 0 += operand 1 * operand 2.
struct LibraryIndex {
  std::string role;  // "batch", "rows", "columns" or "sum"
  int variable;      // of the space
};
struct LibraryLeaf {
  std::string kernel;                 // as substitute names it
  std::vector<LibraryIndex> indices;  // as many as it replaces loops
};

struct Compute {
  Assignment assignment;
  bool accumulate = false;            // += in the leaf; a plain store only where nothing is summed
  std::vector<LeafOperand> operands;  // 0 is the output, then the right side left to right
  std::vector<LeafTerm> terms;
  std::optional<LibraryLeaf> library;  // the innermost loops are this
};

// What is to be done with a loop of the leaf beside running it.
struct LoopMark {
  enum class Kind { Parallel, Unroll, Vectorize };
  Kind kind = Kind::Parallel;
  int loop = 0;
  SourceSpan span;         // the user's word
  Race race = Race::None;  // of a parallel loop
  IntExpr factor{1};       // of an unrolled one
};

struct LeafPart {
  std::vector<int> loops;  // outermost first
  std::vector<LoopMark> marks;
  std::variant<std::vector<LeafPart>, Compute> body;
  std::optional<int> fills;  // the workspace that starts at zero each time this runs

  const Compute* compute() const { return std::get_if<Compute>(&body); }
  const std::vector<LeafPart>* parts() const { return std::get_if<std::vector<LeafPart>>(&body); }
};

struct Leaf {
  LeafPart root;
  std::vector<LeafAccess> accesses;  // 0 is the output
  std::vector<Workspace> workspaces;
};

// The loops of a part and of all parts inside of it.
std::vector<int> all_loops(const LeafPart& part);
std::vector<LoopMark> all_marks(const LeafPart& part);

// The start value of an output's pieces at home: zero.
struct Init {
  std::string tensor;
};

struct Chain {
  std::vector<NodePtr> parts;  // one after the other
};

struct Node {
  std::variant<Launch, Loop, Acquire, Leaf, Init, Chain> value;
};

// Where a machine dimension's coordinate comes from when nothing is distributed onto it.
struct HeldDimension {
  int level;
  int dimension;
  IntExpr face;
};

// A machine dimension at whose every coordinate a copy runs: each replica of the output takes what it lacks.
struct EverywhereDimension {
  int level;
  int dimension;
};

// One statement, lowered.
struct Stage {
  ScheduledStatement source;
  Stmt concrete;
  Machine machine;
  IterationSpace<IntExpr> space;
  std::vector<HeldDimension> held;
  std::vector<EverywhereDimension> everywhere;
  NodePtr root;
};

struct Program {
  Module module;
  std::vector<Stage> stages;
};

std::vector<const Acquire*> acquires_of(const Stage& stage);  // in the order of their ids
const Leaf& leaf_of(const Stage& stage);
std::vector<LaunchDimension> launch_dimensions(const Stage& stage);  // of all launches

std::string to_string(Privilege privilege);
std::string to_string(const Stage& stage);
std::string to_string(const Program& program);

}  // namespace distal::core
