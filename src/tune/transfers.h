#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/causes.h"
#include "tune/find.h"

namespace distal::core {

// A better format for a tensor whose format is given: of all formats of one copy on the found grid, the one that moves
// the fewest bytes; of several such formats, the one into which the given pieces are redistributed with fewest bytes.
struct FormatChange {
  std::string format;        // its distribution over the grid
  int64_t bytes_saved = 0;   // in each run
  int64_t bytes_needed = 0;  // once, to redistribute
};

// What the chosen candidate moves of one tensor, and why.
struct TensorTransfer {
  std::string tensor;
  bool is_output = false;
  bool is_given = false;              // whether its format is given
  int64_t bytes = 0;                  // by all processors
  int64_t messages = 0;               // as in CandidateCost
  std::vector<SharedIndex> shared{};  // what causes the bytes that no format of one copy would save
  std::optional<FormatChange> change{};
  bool copies_replicas = false;  // of an output with several replicas
};

// Of all tensors of a statement, the output first. `module` is the found program.
std::vector<TensorTransfer> transfers_of(const Module& module, const Bindings& params, const FoundStatement& found);

// Why the tensor moves, in words; empty if it does not move.
std::string cause_text(const TensorTransfer& transfer);
// Which format would save bytes that the given format causes, in words; empty if none would.
std::string change_text(const TensorTransfer& transfer);

}  // namespace distal::core
