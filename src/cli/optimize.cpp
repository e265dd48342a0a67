#include "cli/optimize.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "tune/report.h"

namespace distal::core {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const StatementShape& shape, const Found& found) {
  Json grid = Json::array(), loops = Json::array();
  for (const GridLevel& level : found.candidate.levels) {
    Json index = level.index == kNoIndex ? Json(nullptr) : Json(shape.indices[level.index]);
    grid.push_back({{"index", index}, {"processors", level.parts}, {"tile", level.tile}});
  }
  for (const SequentialLoop& loop : found.candidate.loops) {
    loops.push_back({{"index", shape.indices[loop.index]}, {"steps", loop.parts}});
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

// The report as comments, so that it may stand behind the program.
std::string as_comments(const std::string& text) {
  std::stringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += "# " + line + "\n";
  return out;
}

void write_program(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw Error(fmt::format("cannot write {}", path));
}

}  // namespace

Json to_json(const FoundStatement& found) {
  Json json{{"statement", to_string(found.statement)}, {"processors", found.shape.processors}};
  json.update(to_json(found.shape, found.result.best));
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

FoundProgram find_left_out(const CliOptions& options, const LoadedModule& loaded) {
  FindOptions find;
  find.goal = options.goal == "bytes" ? Goal::Bytes : Goal::Time;
  if (options.memory > 0) find.memory_bytes = options.memory;
  find.model = options.model.empty() ? model_of_engine(options.engine) : read_model(options.model);
  return find_what_is_left_out(loaded.module, loaded.params, find);
}

int optimize_command(const CliOptions& options) {
  LoadedModule loaded = load_module(options);
  FoundProgram found = find_left_out(options, loaded);
  std::string program = to_string(found.module);
  if (!options.output.empty()) write_program(options.output, program);
  if (options.json) {
    Json json{{"program", program}, {"statements", Json::array()}, {"left", found.left}};
    for (const FoundStatement& one : found.statements) json["statements"].push_back(to_json(one));
    std::cout << json.dump() << std::endl;
    return 0;
  }
  if (options.output.empty()) fmt::print("{}\n", program);
  for (const FoundStatement& one : found.statements) fmt::print("{}", as_comments(report_of(one)));
  for (const std::string& left : found.left) fmt::print("# as written: {}\n", left);
  return 0;
}

}  // namespace distal::core
