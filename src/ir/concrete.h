#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/relation.h"
#include "lang/index_notation.h"

namespace distal::core {

struct Forall;
struct Assignment;
struct Sequence;
struct Where;
struct SuchThat;

// Concrete index notation: the order of loops, and what the schedule said of them. Immutable; copies share.
class Stmt {
 public:
  using Node = std::variant<Forall, Assignment, Sequence, Where, SuchThat>;

  // NOLINTBEGIN: every node is a statement
  Stmt(Forall node);
  Stmt(Assignment node);
  Stmt(Sequence node);
  Stmt(Where node);
  Stmt(SuchThat node);
  // NOLINTEND

  const Node& node() const;
  template <class T>
  const T* as() const;
  friend bool operator==(const Stmt& a, const Stmt& b);

 private:
  std::shared_ptr<const Node> node_;
};

struct Forall {
  IndexVar variable;
  Stmt body;
  bool operator==(const Forall&) const = default;
};
struct Assignment {
  Access lhs;
  AssignOp op;
  Expr rhs;
  bool operator==(const Assignment&) const = default;
};
struct Sequence {
  std::vector<Stmt> statements;
  bool operator==(const Sequence&) const = default;
};
struct Where {  // the producer runs first and fills what the consumer reads
  Stmt consumer;
  Stmt producer;
  bool operator==(const Where&) const = default;
};
struct SuchThat {
  Stmt body;
  std::vector<Relation> relations;
  bool operator==(const SuchThat&) const = default;
};

inline const Stmt::Node& Stmt::node() const { return *node_; }

template <class T>
const T* Stmt::as() const {
  return std::get_if<T>(node_.get());
}

// "∀i ∀j ∀k A(i, j) += B(i, k)*C(k, j) s.t. ...", on one line.
std::string to_string(const Stmt& stmt);

// The statement of index notation as a nest, ordered by the variables' first appearance, left to right.
Stmt concretize(const Statement& statement);

// A perfect nest taken apart: what scheduling commands work on. `to_stmt(nest_of(s)) == s` for every s that
// concretize or a command made.
struct Nest {
  std::vector<IndexVar> loops;  // outermost first
  Stmt body;                    // an assignment, or a where of two further nests
  std::vector<Relation> relations;
  std::vector<IndexVar> around;  // for a nest inside a where: the loops around that

  bool has_loop(const IndexVar& variable) const;
  size_t position(const IndexVar& variable) const;
  bool is_distributed(const IndexVar& variable) const;
};

Nest nest_of(const Stmt& stmt);
Stmt to_stmt(const Nest& nest);

// A side of the where that a nest ends in, as a nest of its own, with the relations and the loops around it; and the
// nest with that side changed.
enum class WhereSide { Consumer, Producer };
Nest side_of(const Nest& nest, WhereSide side);
Nest with_side(const Nest& nest, WhereSide side, const Nest& inner);

// All assignments of a statement: of a where the consumer's first.
std::vector<Assignment> assignments(const Stmt& stmt);
// All loops of a statement, also those inside a where.
std::vector<IndexVar> all_loops(const Stmt& stmt);

// The loops one under another, as in the paper's figures: what errors and `explain` show.
std::string loop_nest_text(const Stmt& stmt);

}  // namespace distal::core
