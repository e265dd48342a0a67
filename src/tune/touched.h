#pragma once

#include <cstdint>

#include "tune/processor_view.h"

namespace distal::core {

// The elements of rectangles that a processor touches and owns, or does not own, and those that it copies. A rectangle
// that lies in one run of each dimension is used in place, and equal ones are copied once.
struct Touched {
  int64_t owned = 0;
  int64_t foreign = 0;
  int64_t copied = 0;
  bool keeps = false;  // some of the copies that it has
};

// What the processor touches of the tensor that it looks at, in all its accesses together.
Touched touched_at_once(const ProcessorView& view);
// The same over all steps of the sequential loops; `copied` is of the step with most. A step keeps what it needs of an
// operand that the step before it had, and then needs a second buffer.
Touched touched_in_steps(ProcessorView& view);

}  // namespace distal::core
