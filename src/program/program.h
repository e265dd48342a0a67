#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/concrete.h"
#include "ir/iteration_space.h"
#include "lang/index_role.h"
#include "lang/module.h"

namespace distal::core {

// The narrow waist: a distributed program as plain data. Every number is an expression over params and loop variables.

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

// What an access touches: the element at these variables of the space, each moved by its offset.
struct AccessIndices {
  std::vector<int> variables;
  std::vector<IntExpr> offsets;  // by index; empty if none is shifted
  bool operator==(const AccessIndices&) const = default;
};

// A rectangle whose bounds are expressions, one interval per tensor dimension.
struct SymbolicRect {
  std::vector<IntExpr> lo, hi;
};

// Gives a place the rectangles that `accesses` touch, while `body` runs. If `place_levels` is the number of the
// machine's levels, a place is one processor. With fewer levels it is a processor of an upper level, whose lower-level
// processors share what it acquires. A place keeps a rectangle until it acquires a different one. Then a written
// rectangle goes home, and a partial is combined level by level.
struct Acquire {
  int id = 0;  // counts from 0 within the stage
  std::string tensor;
  Privilege privilege = Privilege::Read;
  std::vector<AccessIndices> accesses;  // the distinct ones
  std::vector<SymbolicRect> rects;      // one per access
  bool exact = true;                    // the accesses touch every element of the rectangles
  // For reads: the sequential loops of the body that leave holes in the rectangles, such as loops over the blocks of a
  // cyclic distribution. The place acquires one rectangle for each of their iterations, and not the elements between.
  std::vector<int> blocks;
  bool exact_in_blocks = false;  // the accesses touch every element of these smaller rectangles
  int place_levels = 1;
  std::vector<int> fixed;     // the variables that have one value during the acquire
  std::optional<int> parent;  // for partials below a shared output: the acquire they are added to, instead of home
  std::string at;             // the loop of its communicate, or the default one; empty at the root
  bool by_default = false;    // no communicate names the tensor
  NodePtr body;
};

// An access of the leaf to a tensor.
struct LeafAccess {
  std::vector<int> indices;  // variables of the space; the acquire knows by what they are shifted
  int acquire = 0;           // the id of the acquire of its operand
  int rect = 0;              // the access's number in that acquire
};

// Private memory of a processor, filled anew each time its producer runs.
struct Workspace {
  std::string name;
  std::vector<int> indices;         // its dimensions: variables of its producer
  std::vector<int> producer_loops;  // the loops of its producer
};

// What an assignment reads or writes. Numbers count the accesses of the leaf first, then its workspaces.
struct LeafOperand {
  std::vector<int> indices;
  int number = 0;
};

// An addend of the right side. It contributes only where all variables of `only_at_zero` are 0. These are the variables
// of the sums that the addend does not use.
struct LeafTerm {
  bool negated = false;
  Expr expr;
  std::vector<int> only_at_zero;
  int first_operand = 0;  // the number of its first operand among the assignment's
};

// A library kernel that replaces the innermost loops: operand 0 += operand 1 * operand 2.
struct LibraryIndex {
  IndexRole role;
  int variable;  // of the space
};
struct LibraryLeaf {
  std::string kernel;                 // as substitute names it
  std::vector<LibraryIndex> indices;  // one per replaced loop
};

struct Compute {
  Assignment assignment;
  bool accumulate = false;            // the assignment is +=; a statement with = is one too if it sums
  std::vector<LeafOperand> operands;  // 0 is the output, then the right side left to right
  std::vector<LeafTerm> terms;
  std::optional<LibraryLeaf> library;  // replaces the innermost loops
};

// A loop of the leaf that runs in parallel, unrolled or vectorized.
struct LoopMark : LoopCode {
  int loop = 0;
  SourceSpan span;  // of the loop's name in the command
};

// A nest of loops around an assignment, or around further parts that run one after the other: the producer of a
// workspace, then its consumer.
struct LeafPart {
  std::vector<int> loops;  // outermost first
  std::vector<LoopMark> marks;
  std::variant<std::vector<LeafPart>, Compute> body;
  std::optional<int> fills;  // the workspace that starts at zero each time this runs

  const Compute* compute() const { return std::get_if<Compute>(&body); }
  const std::vector<LeafPart>* parts() const { return std::get_if<std::vector<LeafPart>>(&body); }
};

// What a processor runs between two acquires.
struct Leaf {
  LeafPart root;
  std::vector<LeafAccess> accesses;  // 0 is the output
  std::vector<Workspace> workspaces;
};

AccessIndices access_indices(const IterationSpace<IntExpr>& space, const Access& access);

// The loops, or marks, of a part and of all parts inside it.
std::vector<int> all_loops(const LeafPart& part);
std::vector<LoopMark> all_marks(const LeafPart& part);

// Sets the home pieces of an output to zero.
struct Init {
  std::string tensor;
};

struct Chain {
  std::vector<NodePtr> parts;  // one after the other
};

struct Node {
  std::variant<Launch, Loop, Acquire, Leaf, Init, Chain> value;
};

// A machine dimension onto which no loop is distributed, and the one coordinate at which the statement runs.
struct HeldDimension {
  int level;
  int dimension;
  IntExpr face;
};

// A machine dimension along which a copy statement runs at every coordinate, so that each replica of the output fetches
// the elements that it lacks.
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
