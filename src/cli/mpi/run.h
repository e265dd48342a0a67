#pragma once

#include "cli/options.h"

namespace distal::core {

// Does what the command line says on the ranks of this job, which must all have the same one; the exit status. A rank
// that fails alone ends the job.
int main_of_ranks(int argc, const char* const* argv);

}  // namespace distal::core
