#pragma once

#include "lang/module.h"

namespace distal::core {

// All tensors of a statement live on one machine; only a copy may go from one to another. Machines are compared by
// value, not by name: the same grids of the same processors are the same machine.

// Whether two machines differ whatever the params are.
bool surely_differ(const Machine& a, const Machine& b);

// Whether two machines differ for these params.
bool differ(const Machine& a, const Machine& b, const Bindings& params);

// The machine with numbers for its extents, for messages.
Machine with_values(Machine machine, const Bindings& params);

[[noreturn]] void refuse_two_machines(const std::string& a, const Machine& on_a, const std::string& b,
                                      const Machine& on_b, const SourceSpan& span);

// Throws an Error if a machine with these extents has more than kMaxProcessors processors.
void refuse_too_many_processors(const Machine& machine, const std::vector<int64_t>& extents);

// "M = Grid(2, 2)", or only the grids for a machine written in place.
std::string described(const Machine& machine);

}  // namespace distal::core
