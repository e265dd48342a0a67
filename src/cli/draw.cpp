#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <sstream>

#include "cli/found.h"
#include "plan/certificate.h"
#include "support/cache.h"
#include "view/page.h"
#include "view/picture.h"
#include "view/svg.h"

namespace distal::core {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

PictureView view_of(const CliOptions& options) {
  PictureView view{options.view, options.step, options.processor, {}};
  std::stringstream words(options.axes);
  for (std::string name; std::getline(words, name, ',');) view.axes.push_back(name);
  return view;
}

// The candidates of the search for the statements that leave something out, each with its bound.
Json choices_of(const LoadedModule& loaded, const Plan& plan) {
  Json out = Json::array();
  if (loaded.found.empty()) return out;
  std::vector<Certificate> proved = certificates(plan);
  for (const FoundStatement& one : loaded.found) {
    out.push_back(to_json(loaded, one));
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
  write_atomically(output, is_svg ? svg_of(picture, view_of(options), "--") : page_of(picture));
  fmt::print("wrote {}\n", options.output);
  return 0;
}

}  // namespace distal::core
