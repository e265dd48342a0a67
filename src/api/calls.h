#pragma once

#include "lang/module.h"

namespace distal {

// The place of what a C++ program said: `call` is the text of the object or of the call, such as "tensor A" or
// "A.schedule().split(k, ko, ki, 256)". Errors begin with it.
core::SourceSpan at_call(const std::string& call);

// Gives everything in the module that has no place yet the call that it came from.
void place_at_calls(core::Module& module);

}  // namespace distal
