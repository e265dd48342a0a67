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
struct Where;
struct SuchThat;

// Concrete index notation: nested loops with the relations of the schedule. Immutable; copies share nodes.
class Stmt {
 public:
  using Node = std::variant<Forall, Assignment, Where, SuchThat>;

  // NOLINTBEGIN: every node is a statement
  Stmt(Forall node);
  Stmt(Assignment node);
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
  AssignOp op;  // = or +=; a statement with -= adds the negated right side
  Expr rhs;
  bool operator==(const Assignment&) const = default;
};
struct Where {  // the producer runs first and fills the workspace that the consumer reads
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

// Makes a loop nest of a statement. The loops are in the order in which the variables first appear, left to right.
Stmt concretize(const Statement& statement);

// A perfect nest in the form that scheduling commands rewrite. `to_stmt(nest_of(s)) == s` for every s that concretize
// or a command returns.
struct Nest {
  std::vector<IndexVar> loops;  // outermost first
  Stmt body;                    // an assignment, or a where of two nests
  std::vector<Relation> relations;
  std::vector<IndexVar> enclosing_loops;  // for a nest inside a where: the loops around the where

  bool has_loop(const IndexVar& variable) const;
  size_t position(const IndexVar& variable) const;
  bool is_distributed(const IndexVar& variable) const;
  // Puts the loops `with` in the place of a loop.
  void replace_loop(const IndexVar& variable, const std::vector<IndexVar>& with);
};

Nest nest_of(const Stmt& stmt);
Stmt to_stmt(const Nest& nest);

enum class WhereSide { Consumer, Producer };
// One side of the where in a nest's body, as a nest with the same relations.
Nest side_of(const Nest& nest, WhereSide side);
// The nest with that side, and the relations, replaced by those of `inner`.
Nest with_side(const Nest& nest, WhereSide side, const Nest& inner);

// All assignments of a statement. In a where the consumer's come first.
std::vector<Assignment> assignments(const Stmt& stmt);
// All loops of a statement, including those inside a where.
std::vector<IndexVar> all_loops(const Stmt& stmt);

// The loop nest with one loop per line, as in the paper's figures. Errors and `explain` show it.
std::string loop_nest_text(const Stmt& stmt);

}  // namespace distal::core
