#include "tune/report.h"

#include <fmt/format.h>

#include "support/text.h"

namespace distal::core {

namespace {

std::string costs_text(const Found& found) {
  return fmt::format("{} bytes exchanged, {} moved in all in {}, {} of memory, {:.3g} s",
                     with_commas(found.cost.exchanged_bytes), with_commas(found.cost.bytes_moved),
                     counted(found.cost.messages, "message"), with_commas(found.cost.peak_bytes), found.seconds);
}

std::string transfer_text(const TensorTransfer& transfer) {
  if (transfer.bytes == 0) return fmt::format("  {}: stays where it is\n", transfer.tensor);
  std::string out = fmt::format("  {}: {} bytes in {}: {}\n", transfer.tensor, with_commas(transfer.bytes),
                                counted(transfer.messages, "message"), cause_text(transfer));
  std::string change = change_text(transfer);
  return change.empty() ? out : out + fmt::format("    {}\n", change);
}

}  // namespace

std::string grid_text(const StatementShape& shape, const Candidate& candidate) {
  std::string out;
  for (const GridLevel& level : candidate.levels) {
    if (!out.empty()) out += " x ";
    out += fmt::format("{}", level.parts);
    std::string blocks = level.is_cyclic() ? fmt::format(" in blocks of {}", level.block) : "";
    if (level.index != kNoIndex) out += fmt::format(" ({}{})", shape.indices[level.index], blocks);
  }
  if (out.empty()) out += "1";
  for (const SequentialLoop& loop : candidate.loops) {
    out += fmt::format(", {} in {} {}steps", shape.indices[loop.index], loop.parts, loop.is_rotated ? "rotated " : "");
  }
  return out;
}

std::string report_of(const FoundStatement& found, const std::vector<TensorTransfer>& transfers) {
  const Found& best = found.result.best;
  std::string out = to_string(found.statement) + "\n";
  out += fmt::format("  grid {}: {} of {} processors have work\n", grid_text(found.shape, best.candidate),
                     best.cost.working_processors, found.shape.processors);
  out += fmt::format("  {}\n", costs_text(best));
  for (const TensorTransfer& transfer : transfers) out += transfer_text(transfer);
  for (const Alternative& other : found.result.alternatives) {
    out += fmt::format("  not {}: {} ({})\n", grid_text(found.shape, other.found.candidate), other.reason,
                       costs_text(other.found));
  }
  return out;
}

}  // namespace distal::core
