#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "cli/found.h"
#include "plan/certificate.h"
#include "support/cache.h"
#include "support/process.h"
#include "support/text.h"
#include "view/page.h"
#include "view/page_files.h"
#include "view/picture.h"

namespace distal::core {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A folder for one command, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(unique_name(fs::temp_directory_path() / "distal-draw")) {
    fs::create_directories(path_);
    fs::permissions(path_, fs::perms::owner_all);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

// The numbers of the indices that --axes names, of the statement that step shows.
Json axes_choice(const CliOptions& options, const Json& statement) {
  Json out = Json::array();
  std::stringstream words(options.axes);
  for (std::string name; std::getline(words, name, ',');) {
    const Json& indices = statement["indices"];
    auto found = std::find_if(indices.begin(), indices.end(), [&](const Json& i) { return i["name"] == name; });
    if (found == indices.end()) {
      std::string known;
      for (const Json& i : indices) known += (known.empty() ? "" : ", ") + i["name"].get<std::string>();
      throw Error(fmt::format("--axes {}: {} is no index of the statement", options.axes, name), {},
                  "its indices are " + known);
    }
    out.push_back(found - indices.begin());
  }
  if (out.size() > 3) throw Error(fmt::format("--axes {}: a picture has at most three axes", options.axes));
  return out;
}

// The statement of a step, counted from 1 over all statements; 0: the last.
const Json& statement_at(const Json& picture, int64_t step) {
  const Json& statements = picture["statements"];
  for (const Json& s : statements) {
    int64_t frames = s["frames_in_all"];
    if (step > 0 && step <= frames) return s;
    step -= frames;
  }
  return statements.back();
}

void require_step(int64_t step, const Json& picture) {
  int64_t steps = 0;
  for (const Json& s : picture["statements"]) steps += s["frames_in_all"].get<int64_t>();
  if (step <= std::max<int64_t>(1, steps)) return;
  throw Error(fmt::format("--step {}: the program has {}, numbered from 1", step, counted(steps, "step")));
}

Json choice_of(const CliOptions& options, const Json& picture) {
  require_step(options.step, picture);
  Json choice{{"view", options.view}, {"step", options.step}};
  if (options.processor >= picture["processors"].get<int64_t>()) {
    throw Error(fmt::format("--processor {}: the machine has {} processors, numbered from 0", options.processor,
                            picture["processors"].get<int64_t>()));
  }
  if (options.processor >= 0) choice["processor"] = options.processor;
  if (!options.axes.empty() && !picture["statements"].empty())
    choice["axes"] = axes_choice(options, statement_at(picture, options.step));
  return choice;
}

// The same code draws the page and the SVG, so an SVG needs Node to run it.
std::string svg_of(const CliOptions& options, const Json& picture) {
  std::string choice = choice_of(options, picture).dump();
  std::string node = on_path("node");
  if (node.empty()) {
    throw Error("an .svg is drawn by Node, and there is no `node`", {},
                "install it (Debian: apt-get install nodejs), or write an .html and save the picture from there",
                Error::Kind::Resources);
  }
  TemporaryFolder folder;
  write_atomically(folder / "draw.mjs", page_files().command);
  write_atomically(folder / "picture.json", picture.dump());
  ProcessOptions process;
  process.standard_output = (folder / "out.svg").string();
  int status = run_process(
      {node, (folder / "draw.mjs").string(), (folder / "picture.json").string(), choice, page_files().drawing_style},
      process);
  if (status != 0) throw InternalError(fmt::format("drawing ended with status {}", status));
  return read_text(folder / "out.svg");
}

// What the search weighed for the statements that leave something out, each with its bound.
Json choices_of(const LoadedModule& loaded, const Plan& plan) {
  Json out = Json::array();
  if (loaded.found.empty()) return out;
  std::vector<Certificate> proved = certificates(plan);
  for (const FoundStatement& one : loaded.found) {
    out.push_back(to_json(one));
    for (const Certificate& c : proved) {
      if (c.statement == to_string(one.statement)) out.back()["lower_bound_bytes"] = c.lower_bound_bytes;
    }
  }
  return out;
}

}  // namespace

int draw_command(const CliOptions& options) {
  fs::path output = options.output;
  bool is_svg = output.extension() == ".svg";
  if (!options.json && !is_svg && output.extension() != ".html") {
    throw Error(output.empty() ? "draw needs a file to write"
                               : fmt::format("-o {}: a picture is an .html or an .svg", options.output),
                {}, "write -o FILE.html for a page with all views, -o FILE.svg for one view, or --json for the data");
  }
  LoadedModule loaded = load_found(options);
  std::shared_ptr<PreparedProgram> prepared = prepare(options, loaded);
  Json picture = picture_of(prepared->plan(), fs::path(options.file).filename().string());
  picture["choices"] = choices_of(loaded, prepared->plan());
  if (options.memory > 0) picture["memory_bytes"] = options.memory;
  if (options.view == "choice" && picture["choices"].empty()) {
    throw Error("the program leaves nothing out, so nothing was weighed", {}, "`distal optimize` says what it finds");
  }
  if (options.json) {
    std::cout << picture.dump() << std::endl;
    return 0;
  }
  write_atomically(output, is_svg ? svg_of(options, picture) : page_of(picture));
  fmt::print("wrote {}\n", options.output);
  return 0;
}

}  // namespace distal::core
