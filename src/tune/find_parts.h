#pragma once

#include <vector>

#include "tune/find.h"
#include "tune/split.h"

namespace distal::core {

// A statement in parts, each of which got a schedule.
struct FoundParts {
  Module module;  // with workspaces, and with the grids and formats that were found
  std::vector<Command> schedule;
  std::vector<FoundStatement> parts;
  double elements = 0;  // that the kernels of all parts read and write

  double seconds() const;           // by the model
  int64_t exchanged_bytes() const;  // of all parts
  int64_t bytes_moved() const;
};

// Finds schedules for the parts of a split statement, one after another, and formats for its workspaces and its other
// free tensors. If the grid of the machine is free, it is found for the part `grid_part`. Under a cap on memory, the
// pieces of all tensors of the program count; a tensor whose format is found later counts with an even share for each
// processor. Throws DoesNotFit.
FoundParts find_parts(const Module& module, const Statement& statement, const Split& split,
                      const std::optional<Machine>& machine, const Bindings& params, const FindOptions& options,
                      size_t grid_part);

// The largest memory of a processor while it runs these parts: all pieces, and what the part copies.
int64_t memory_of(const Module& module, const Bindings& params, const std::vector<FoundStatement>& parts);

}  // namespace distal::core
