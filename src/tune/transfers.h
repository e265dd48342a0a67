#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/causes.h"
#include "tune/find.h"

namespace distal::core {

// Another format for a tensor whose format is given: the one that moves the least of all formats with one copy for the
// grid that was found. If several do, the one that the given pieces are changed into by moving the least.
struct FormatChange {
  std::string format;        // its distribution over the grid
  int64_t bytes_saved = 0;   // in each run
  int64_t bytes_needed = 0;  // once, to redistribute
};

// What the chosen candidate moves of one tensor, and why.
struct TensorTransfer {
  std::string tensor;
  bool is_output = false;
  bool is_given = false;              // its format
  int64_t bytes = 0;                  // by all processors
  int64_t messages = 0;               // as in CandidateCost
  std::vector<SharedIndex> shared{};  // what causes the bytes that no format of one copy would save
  std::optional<FormatChange> change{};
};

// Of all tensors of a statement, the output first. `module` is the found program.
std::vector<TensorTransfer> transfers_of(const Module& module, const Bindings& params, const FoundStatement& found);

// What causes the bytes, in words; empty if there are none.
std::string cause_text(const TensorTransfer& transfer);
// What would save the bytes that a given format causes; empty if nothing would.
std::string change_text(const TensorTransfer& transfer);

}  // namespace distal::core
