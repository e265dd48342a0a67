#pragma once

#include <optional>
#include <string>
#include <vector>

#include "distal/kinds.h"
#include "lang/command.h"
#include "lang/index_notation.h"
#include "lang/int_expr.h"

namespace distal::core {

// The relations of a "s.t." clause that derive no loop: they say where and how the iterations of loops run. `obstacle`
// says why no command may replace loop `v` any more, such as "is distributed"; empty if one may.

struct DistributeRelation {  // the iterations of the loop run on different processors
  IndexVar variable;
  std::optional<int> level;      // none: the machine's dimensions in loop order
  std::optional<int> dimension;  // of that level's grid; none: the next free dimension in loop order
  bool operator==(const DistributeRelation&) const = default;
  std::string text() const;
  std::string obstacle(const IndexVar& v) const;
};
struct HoldRelation {  // no loop is distributed onto this machine dimension; the statement runs at this face of it
  int level = 0;
  int dimension = 0;
  IntExpr face;
  bool operator==(const HoldRelation&) const = default;
  std::string text() const;
};
// The statement, which is a copy, runs at every coordinate of this machine dimension. Each replica of its output
// fetches the elements that it lacks.
struct EverywhereRelation {
  int level = 0;
  int dimension = 0;
  bool operator==(const EverywhereRelation&) const = default;
  std::string text() const;
};
struct CommunicateRelation {
  Name tensor;
  IndexVar at;
  bool operator==(const CommunicateRelation&) const = default;
  std::string text() const;
  std::string obstacle(const IndexVar& v) const;
};
struct SubstituteRelation {
  std::vector<IndexVar> variables;
  Name kernel;
  bool operator==(const SubstituteRelation&) const = default;
  std::string text() const;
  std::string obstacle(const IndexVar& v) const;
};

std::string to_string(OutputRace race);

// How the code of a leaf loop runs its iterations.
struct LoopCode {
  enum class Kind { Parallel, Unroll, Vectorize };
  Kind kind = Kind::Parallel;
  OutputRace race = OutputRace::None;  // of a parallel loop
  IntExpr factor{1};                   // of an unrolled one
  bool operator==(const LoopCode&) const = default;

  std::string command() const;                            // "parallelize"
  std::string done() const;                               // "parallelized"
  std::string in_nest() const;                            // "parallel"
  std::string in_program(const std::string& loop) const;  // "parallel i by reduction"
};
struct MarkRelation {
  IndexVar variable;
  LoopCode code;
  bool operator==(const MarkRelation&) const = default;
  std::string text() const;
  std::string obstacle(const IndexVar& v) const;
};

// The producer fills a workspace that the consumer reads. The producer has its own copies of some loops, and of the
// indices that these loops were made from: copies[i] is the copy of originals[i].
struct PrecomputeRelation {
  Name workspace;
  std::vector<IndexVar> originals, copies;
  std::vector<IndexVar> sums;   // the variables that the producer sums over
  std::vector<IndexVar> fixed;  // the other variables of the part that are no index of the workspace
  bool operator==(const PrecomputeRelation&) const = default;
  std::string text() const;

  // The producer's copy of a variable, or the original of a copy; the variable itself if there is none.
  IndexVar copy_of(const IndexVar& v) const;
  IndexVar original_of(const IndexVar& v) const;
};

}  // namespace distal::core
