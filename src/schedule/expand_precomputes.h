#pragma once

#include "lang/module.h"

namespace distal::core {

// A precompute whose workspace is a declared tensor has a home of its own, so it is a statement of its own: the part is
// assigned to that tensor, and the statement after it reads it there. Commands go with the loops they name.
Module expand_precomputes(const Module& module);

}  // namespace distal::core
