#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "cli/found.h"
#include "cli/look_first.h"
#include "tune/report.h"

namespace distal::core {

namespace {

using Json = nlohmann::ordered_json;

// The report as comments, so that it may stand behind the program.
std::string as_comments(const std::string& text) {
  std::stringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += "# " + line + "\n";
  return out;
}

std::string look_first_text(const FoundStatement& found) {
  std::string out;
  for (const Remark& remark : remarks_on(found))
    out += fmt::format("#   look at {}: {}\n", remark.where, notable(remark.what));
  return out;
}

void write_program(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw Error(fmt::format("cannot write {}", path));
}

}  // namespace

int optimize_command(const CliOptions& options) {
  LoadedModule loaded = load_found(options);
  std::string program = to_string(loaded.module);
  if (!options.output.empty()) write_program(options.output, program);
  if (options.json) {
    Json json{{"program", program}, {"statements", Json::array()}, {"left", loaded.left}};
    for (const FoundStatement& one : loaded.found) json["statements"].push_back(to_json(loaded, one));
    std::cout << json.dump() << std::endl;
    return 0;
  }
  std::string text = options.output.empty() ? program + "\n" : "";
  for (const FoundStatement& one : loaded.found) {
    text += as_comments(report_of(one, transfers_of(loaded.module, loaded.params, one)));
    if (options.terminal) text += look_first_text(one);
  }
  for (const std::string& left : loaded.left) text += fmt::format("# as written: {}\n", left);
  show_text(options, text);
  return 0;
}

}  // namespace distal::core
