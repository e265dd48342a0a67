#include "cli/found.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tune/find_together.h"
#include "tune/report.h"

namespace distal::core {

namespace {

using Json = nlohmann::ordered_json;

FindOptions find_options(const CliOptions& options) {
  FindOptions find;
  find.goal = options.goal == "bytes" ? Goal::Bytes : Goal::Time;
  if (options.memory > 0) find.memory_bytes = options.memory;
  find.model = options.model.empty() ? model_of_engine(options.engine) : read_model(options.model);
  return find;
}

Json to_json(const StatementShape& shape, const Found& found) {
  Json grid = Json::array(), loops = Json::array();
  for (const GridLevel& level : found.candidate.levels) {
    Json index = level.index == kNoIndex ? Json(nullptr) : Json(shape.indices[level.index]);
    Json block = level.is_cyclic() ? Json(level.block) : Json(nullptr);
    grid.push_back({{"index", index}, {"processors", level.parts}, {"tile", level.tile}, {"block", block}});
  }
  for (const SequentialLoop& loop : found.candidate.loops) {
    loops.push_back({{"index", shape.indices[loop.index]}, {"steps", loop.parts}, {"rotated", loop.is_rotated}});
  }
  return {{"grid", grid},
          {"loops", loops},
          {"working_processors", found.cost.working_processors},
          {"exchanged_bytes", found.cost.exchanged_bytes},
          {"bytes_moved", found.cost.bytes_moved},
          {"messages", found.cost.messages},
          {"peak_bytes_per_processor", found.cost.peak_bytes},
          {"seconds", found.seconds}};
}

Json to_json(const TensorTransfer& transfer) {
  Json shared = Json::array();
  for (const SharedIndex& one : transfer.shared) {
    shared.push_back({{"index", one.index}, {"processors", one.processors}});
  }
  Json json{{"tensor", transfer.tensor}, {"bytes", transfer.bytes},        {"messages", transfer.messages},
            {"shared", shared},          {"reason", cause_text(transfer)}, {"change", nullptr}};
  if (transfer.change) {
    json["change"] = {{"format", transfer.change->format},
                      {"bytes_saved", transfer.change->bytes_saved},
                      {"bytes_needed", transfer.change->bytes_needed}};
  }
  return json;
}

Json transfers_json(const LoadedModule& loaded, const FoundStatement& found) {
  Json json = Json::array();
  for (const TensorTransfer& one : transfers_of(loaded.module, loaded.params, found)) json.push_back(to_json(one));
  return json;
}

// The formats that were found for the tensors of a statement; their names alone if that is too long for a line.
std::string formats_text(const LoadedModule& loaded, const StatementShape& shape) {
  constexpr size_t kLine = 60;
  std::vector<std::string> names, formats;
  for (const ShapeTensor& tensor : shape.tensors) {
    const Tensor* declared = loaded.module.find_tensor(tensor.name);
    if (tensor.given || tensor.is_old_output || !declared->distribution) continue;
    names.push_back(tensor.name);
    formats.push_back(tensor.name + " " + to_string(*declared->distribution));
  }
  if (names.empty()) return "";
  std::string all = fmt::format("; {}", fmt::join(formats, "; "));
  return all.size() <= kLine ? all : fmt::format("; formats of {}", fmt::join(names, ", "));
}

}  // namespace

void find_left_out(const CliOptions& options, LoadedModule& loaded, const ProcessGroup& group) {
  if (!leaves_something_out(loaded.module) && options.memory == 0 && options.model.empty()) return;
  show_progress(options, "finding schedules and formats");
  FindOptions find;
  group.agree([&] { find = find_options(options); });
  FoundProgram found = find_together(group, loaded.module, loaded.params, find);
  loaded.module = std::move(found.module);
  loaded.found = std::move(found.statements);
  loaded.left = std::move(found.left);
}

Json to_json(const LoadedModule& loaded, const FoundStatement& found) {
  Json json{{"statement", to_string(found.statement)}, {"processors", found.shape.processors}};
  json.update(to_json(found.shape, found.result.best));
  json["transfers"] = transfers_json(loaded, found);
  json["considered"] = found.result.considered;
  json["is_least"] = found.result.is_least;
  json["alternatives"] = Json::array();
  for (const Alternative& other : found.result.alternatives) {
    Json one = to_json(found.shape, other.found);
    one["reason"] = other.reason;
    json["alternatives"].push_back(std::move(one));
  }
  return json;
}

Json found_json(const LoadedModule& loaded) {
  Json found = Json::array();
  for (const FoundStatement& one : loaded.found) {
    found.push_back({{"statement", to_string(one.statement)}});
    found.back().update(to_json(one.shape, one.result.best));
    found.back()["transfers"] = transfers_json(loaded, one);
  }
  return {{"found", found}, {"as_written", loaded.left}};
}

FoundNotes found_notes(const CliOptions& options, const LoadedModule& loaded) {
  FoundNotes notes{"", found_json(loaded)};
  for (const FoundStatement& one : loaded.found) {
    std::string output = loaded.found.size() > 1 ? one.statement.lhs.tensor + ": " : "";
    notes.text += fmt::format("  found     {}grid {}{}\n", output, grid_text(one.shape, one.result.best.candidate),
                              formats_text(loaded, one.shape));
  }
  if (!loaded.found.empty()) notes.text += fmt::format("            `distal optimize {}` shows it\n", options.file);
  for (const std::string& left : loaded.left) notes.text += fmt::format("  note      as written: {}\n", left);
  return notes;
}

}  // namespace distal::core
