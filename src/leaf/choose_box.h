#pragma once

#include <string>

#include "leaf/leaf.h"
#include "leaf/leaf_plan.h"

namespace distal::core {

// Which kernels a leaf over a box may use.
struct BoxChoice {
  bool library = true;
  bool compile = true;  // generated code; without it the library is used wherever possible
  bool small = false;   // generated code also for small matrices, where the library is only a little slower
};

// The kernels for an assignment whose loops run over a box. A product that the library or register blocks compute is a
// pass of its own. All other terms that contribute at the same iterations are one pass. No passes if the choice forbids
// compiling and the library does not fit.
BoxPlan choose_box(const LeafTask& task, ElementType type, BoxChoice choice);

// The kernels for the innermost loops, as substitute asks. `strict` keeps the order of sums within a call of BLAS.
BoxPlan choose_substitute(const LeafTask& task, ElementType type, bool strict, bool compile);

// Why no library computes the assignment, as an addition to a sentence; empty if it has several terms.
std::string why_no_library(const LeafTask& task, ElementType type);

// The task of a box: the loops without those around it.
LeafTask box_task(const LeafTask& task, const BoxPlan& plan);

}  // namespace distal::core
