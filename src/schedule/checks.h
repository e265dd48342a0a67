#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/concrete.h"
#include "lang/command.h"
#include "schedule/schedule.h"

namespace distal::core {

// The preconditions that commands share. Each is a named function that throws an Error with the nest in its help.

// Throws an Error with the nest in its help.
[[noreturn]] void refuse(const Nest& nest, const SourceSpan& span, const std::string& message);

// Requires that `v` is a loop of the nest. The Error names the earlier command that replaced the loop, if one did.
void require_loop(const Nest& nest, const IndexVar& v, const std::string& command);
// Requires that the statement has no variable `v` yet.
void require_new(const Nest& nest, const IndexVar& v, const std::string& command);
// Requires that no two names are equal.
void require_distinct(const Nest& nest, const std::vector<IndexVar>& names, const std::string& command);
// Requires that a command may replace the loop: no earlier command marked it.
void require_replaceable(const Nest& nest, const IndexVar& v, const std::string& command);

// Requires that the nest ends in an assignment and has no workspace, because the command affects the code of one nest.
void require_plain_body(const Nest& nest, const IndexVar& v, const std::string& command);

// Every variable that the nest ever named: its loops, and the variables that loops were made from.
std::vector<IndexVar> all_variables(const Nest& nest);

// The variables of the statement itself that `v` was made from.
std::vector<IndexVar> origins(const Nest& nest, const IndexVar& v);

// The assignment of a nest that has no where.
const Assignment& assignment_of(const Nest& nest);

// The first index that a loop was made from and that does not index the output; none if there is no such index.
std::optional<IndexVar> summed_index(const Nest& nest, const IndexVar& loop);

// Requires that a leaf's code can run the iterations of a loop in a way of their own: parallel, unrolled, vectorized.
void require_leaf_loop(const Nest& nest, const IndexVar& v, const std::string& command);
// Requires that a tensor is communicated outside of the loops that a kernel replaces.
void require_outside_kernel(const Nest& nest, const SubstituteRelation& kernel, const CommunicateRelation& communicate,
                            const SourceSpan& span);

// A loop that the compiler makes of `from`, named with the suffix. No variable of the statement has its name, nor one
// of `others`, nor will a later command of the schedule give it to another loop.
IndexVar made_up(const Nest& nest, const ScheduleContext& context, const IndexVar& from, const std::string& suffix,
                 const std::vector<IndexVar>& others = {});

// Requires that each addend of the precomputed part uses every index of `sums`. A sum adds an addend that does not use
// its index only once; after the precompute it would add the addend in every iteration. Pass the sums that move into
// the producer if the part is a factor of a product, and else the sums over the part that stay in the consumer.
void require_whole_sum(const Nest& nest, const Expr& part, const SourceSpan& span, const std::vector<IndexVar>& sums);

bool contains(const std::vector<IndexVar>& variables, const IndexVar& v);

// The variables that the value of an expression depends on. A workspace depends on every variable of its part, also on
// those that do not index it.
std::vector<IndexVar> used_variables(const std::vector<Relation>& relations, const Expr& expr);
// The variables that an assignment of the statement sums over. The producer of a workspace sums over those that
// precompute assigned to it.
std::vector<IndexVar> sums_of(const std::vector<Relation>& relations, const Assignment& assignment);

// The kernel that replaces this nest's innermost loops; null if there is none.
const SubstituteRelation* substitution_of(const Nest& nest);

// What parallelize, unroll or vectorize said of loop `v`; null if none did.
const LoopCode* code_of(const Nest& nest, const IndexVar& v);

// The precompute that made the workspace `name`; null if `name` is a tensor.
const PrecomputeRelation* workspace_of(const std::vector<Relation>& relations, const std::string& name);

}  // namespace distal::core
