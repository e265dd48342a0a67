#include "tune/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/text.h"

namespace distal::core {

namespace {

std::string costs_text(const Found& found) {
  return fmt::format("{} bytes exchanged, {} moved in all, {} of memory, {:.3g} s",
                     with_commas(found.cost.exchanged_bytes), with_commas(found.cost.bytes_moved),
                     with_commas(found.cost.peak_bytes), found.seconds);
}

// Why a tensor moves: the cut indices that it does not have, so that several processors need the same tile.
std::string cause_of(const StatementShape& shape, const Candidate& candidate, size_t t) {
  const std::vector<int>& indices = shape.tensors[t].indices;
  std::string out;
  for (const GridLevel& level : candidate.levels) {
    bool has = std::find(indices.begin(), indices.end(), level.index) != indices.end();
    if (level.index == kNoIndex || level.parts == 1 || has) continue;
    out += fmt::format("{}{} is cut by {}", out.empty() ? "" : " and ", shape.indices[level.index], level.parts);
  }
  const char* what = t == 0 ? "partial results are added" : "processors share tiles";
  if (out.empty())
    return shape.tensors[t].given ? "its given format differs from the tiles of the work" : "stays where it is";
  return fmt::format("{}, because {} and {} has no such index", what, out, shape.tensors[t].name);
}

}  // namespace

std::string grid_text(const StatementShape& shape, const Candidate& candidate) {
  std::string out;
  for (const GridLevel& level : candidate.levels) {
    if (!out.empty()) out += " x ";
    out += fmt::format("{}", level.parts);
    if (level.index != kNoIndex) out += fmt::format(" ({})", shape.indices[level.index]);
  }
  if (out.empty()) out += "1";
  for (const SequentialLoop& loop : candidate.loops) {
    out += fmt::format(", {} in {} steps", shape.indices[loop.index], loop.parts);
  }
  return out;
}

std::string report_of(const FoundStatement& found) {
  const Found& best = found.result.best;
  std::string out = to_string(found.statement) + "\n";
  out += fmt::format("  grid {}: {} of {} processors have work\n", grid_text(found.shape, best.candidate),
                     best.cost.working_processors, found.shape.processors);
  out += fmt::format("  {}\n", costs_text(best));
  for (size_t t = 0; t < found.shape.tensors.size(); ++t) {
    out += fmt::format("  {}: {}\n", found.shape.tensors[t].name, cause_of(found.shape, best.candidate, t));
  }
  for (const Alternative& other : found.result.alternatives) {
    out += fmt::format("  not {}: {} ({})\n", grid_text(found.shape, other.found.candidate), other.reason,
                       costs_text(other.found));
  }
  return out;
}

}  // namespace distal::core
