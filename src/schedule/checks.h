#pragma once

#include <string>
#include <vector>

#include "ir/concrete.h"

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

// Every variable ever named in the nest: loops, and those that loops were made from.
std::vector<IndexVar> all_variables(const Nest& nest);

// The variables of the statement itself that `v` was made from.
std::vector<IndexVar> origins(const Nest& nest, const IndexVar& v);

const Assignment& assignment_of(const Nest& nest);

}  // namespace distal::core
