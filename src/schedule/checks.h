#pragma once

#include <string>
#include <vector>

#include "ir/concrete.h"
#include "lang/command.h"

namespace distal::core {

// The preconditions that commands share, each a named function that throws an Error showing the nest.

[[noreturn]] void refuse(const Nest& nest, const SourceSpan& span, const std::string& message);

// `v` is a loop of the nest; says what became of it if an earlier command took it away.
void require_loop(const Nest& nest, const IndexVar& v, const std::string& command);
// `v` names nothing in the statement yet.
void require_new(const Nest& nest, const IndexVar& v, const std::string& command);
// No two of the names are equal.
void require_distinct(const Nest& nest, const std::vector<IndexVar>& names, const std::string& command);
// The loop may be replaced: nothing said of it before would lose its meaning.
void require_replaceable(const Nest& nest, const IndexVar& v, const std::string& command);

// The loop has an assignment inside, and no workspace: what the command asks for is done by the code of one nest.
void require_plain_body(const Nest& nest, const IndexVar& v, const std::string& command);

// Every variable ever named in the nest: loops, and those that loops were made from.
std::vector<IndexVar> all_variables(const Nest& nest);

// The variables of the statement itself that `v` was made from.
std::vector<IndexVar> origins(const Nest& nest, const IndexVar& v);

// The assignment of a nest that has no where.
const Assignment& assignment_of(const Nest& nest);

// A sum counts an addend that does not use its index once. In a part that is multiplied it would count with every
// iteration of a sum that the part keeps, and in one that is not, with every iteration of a sum that it leaves to the
// rest. So each addend must use what these sums are over.
void require_whole_sum(const Nest& nest, const PrecomputeCommand& command, const std::vector<IndexVar>& sums);

bool contains(const std::vector<IndexVar>& variables, const IndexVar& v);

// The variables that an expression changes with. A workspace changes with what its part used, indices of it or not.
std::vector<IndexVar> used_variables(const std::vector<Relation>& relations, const Expr& expr);
// What an assignment of the statement sums over: of a workspace's producer, what precompute gave it to sum.
std::vector<IndexVar> sums_of(const std::vector<Relation>& relations, const Assignment& assignment);

// The kernel that takes the place of this nest's innermost loops; null if there is none.
const SubstituteRelation* substitution_of(const Nest& nest);

// What a relation does with the code of loop `v`: "parallelized", "unrolled" or "vectorized"; empty if nothing.
std::string mark_on(const Relation& relation, const IndexVar& v);

// The relation of the precompute that made a workspace; null for the name of a tensor.
const PrecomputeRelation* workspace_of(const std::vector<Relation>& relations, const std::string& name);

}  // namespace distal::core
