#pragma once

#include "lang/module.h"

namespace distal::core {

// Splits every statement that reads its output, such as C(i, j) = A(i, k) * B(k, j) + 2 * C(i, j), into two: the first
// copies the output where it lives into a tensor of the same format, and moves nothing; the second reads that tensor
// instead. So the output is read before anything writes it, whatever the schedule does.
Module expand_updates(const Module& module);

// The name of that tensor for the next such statement.
std::string old_output_name(const Module& module, const std::string& output);

}  // namespace distal::core
