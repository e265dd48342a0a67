#pragma once

#include <string>

#include "lang/module.h"
#include "tune/candidate.h"

namespace distal::core {

// The shape of a statement at given params.
StatementShape shape_of(const Module& module, const Statement& statement, const Bindings& params);

// The same with the formats that are given, and with the number of processors. An index without values has one.
StatementShape shape_with_formats(const Module& module, const Statement& statement, const Bindings& params,
                                  int64_t processors);

}  // namespace distal::core
