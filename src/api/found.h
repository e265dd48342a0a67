#pragma once

#include <functional>

#include "api/module_builder.h"
#include "distal/find.h"
#include "tune/find.h"

namespace distal {

// Returns the program with everything found that it leaves out.
using FindModule = std::function<core::Module(const core::Module& module, const core::Bindings& params)>;
// A FindModule that searches in this process.
FindModule find_here(const FindOptions& options);
core::FindOptions to_core(const FindOptions& options);

// Finds what the statements leave out. Returns copies of the definitions with the found schedules, their machines and
// new workspaces. Found formats are given to the tensors themselves; a tensor for which none was found gets the format
// of the first processor.
std::vector<DefinedTensor> with_found(const BuiltModule& built, const FindModule& find,
                                      std::vector<std::shared_ptr<TensorState>>& workspaces);

// Whether a statement has no schedule, or a tensor no format.
bool leaves_something_out(const BuiltModule& built);

}  // namespace distal
