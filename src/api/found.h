#pragma once

#include <functional>

#include "api/module_builder.h"
#include "distal/find.h"
#include "tune/find.h"

namespace distal {

// Makes the program in which nothing is left out.
using FindModule = std::function<core::Module(const core::Module& module, const core::Bindings& params)>;
// One that searches in this process.
FindModule find_here(const FindOptions& options);
core::FindOptions to_core(const FindOptions& options);

// Finds what the statements leave out, and gives it to them: schedules to the copies of the definitions, with machines
// and new workspaces, and formats to the tensors themselves. A tensor whose format is still free then lies on the first
// processor. Returns the definitions.
std::vector<DefinedTensor> with_found(const BuiltModule& built, const FindModule& find,
                                      std::vector<std::shared_ptr<TensorState>>& workspaces);

// Whether a statement has no schedule, or a tensor no format.
bool leaves_something_out(const BuiltModule& built);

}  // namespace distal
