#pragma once

#include "lang/module.h"

namespace distal::core {

// The tensors of a statement may live on different grids of equally many processors of one kind, which have the same
// numbers: row by row, all levels in one row. Only a copy may go to other processors.

// Whether two machines are different processors whatever the params are.
bool surely_differ(const Machine& a, const Machine& b);

// Whether two machines are different processors for these params.
bool differ(const Machine& a, const Machine& b, const Bindings& params);

// The machine with numbers for its extents, for messages.
Machine with_values(Machine machine, const Bindings& params);

[[noreturn]] void refuse_two_machines(const std::string& a, const Machine& on_a, const std::string& b,
                                      const Machine& on_b, const SourceSpan& span);

// Throws an Error if a machine with these extents has more than kMaxProcessors processors.
void refuse_too_many_processors(const Machine& machine, const std::vector<int64_t>& extents);

// Throws an Error if the grid, which has these extents, has more than the number of processors of the machine.
void refuse_too_large_grid(const Machine& machine, const std::vector<int64_t>& extents, const Bindings& params);

// "M = Grid(2, 2)", or only the grids for a machine written in place.
std::string described(const Machine& machine);

}  // namespace distal::core
