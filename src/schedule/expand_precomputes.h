#pragma once

#include "lang/module.h"

namespace distal::core {

// Splits every statement that precomputes a part into a declared tensor. The first of the two statements assigns the
// part to that tensor; the second reads it. Each schedule command goes to the statement whose loops it names.
Module expand_precomputes(const Module& module);

}  // namespace distal::core
