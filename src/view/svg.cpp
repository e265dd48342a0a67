#include "view/svg.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "support/cache.h"
#include "support/error.h"
#include "support/process.h"
#include "support/text.h"
#include "view/page_files.h"

namespace distal::core {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kViews[] = {"film", "data", "plan", "memory", "choice"};
constexpr size_t kMostAxes = 3;

// A folder for one drawing, removed at its end.
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

class Choice {
 public:
  Choice(const Json& picture, const PictureView& view, const std::string& prefix)
      : picture_(picture), view_(view), prefix_(prefix) {}

  // The choice as JSON, for the script of the page.
  Json json() const {
    require_view();
    require_step();
    Json out{{"view", view_.name}, {"step", view_.step}};
    int64_t processors = picture_["processors"];
    if (view_.processor >= processors) {
      throw Error(fmt::format("{}processor {}: the machine has {}, numbered from 0", prefix_, view_.processor,
                              counted(processors, "processor")));
    }
    if (view_.processor >= 0) out["processor"] = view_.processor;
    if (!view_.axes.empty() && !picture_["statements"].empty()) out["axes"] = axes();
    return out;
  }

 private:
  void require_view() const {
    if (std::find(std::begin(kViews), std::end(kViews), view_.name) != std::end(kViews)) return;
    throw Error(fmt::format("{}view {}: there is no such view", prefix_, view_.name), {},
                fmt::format("the views are {}", fmt::join(kViews, ", ")));
  }

  void require_step() const {
    int64_t steps = 0;
    for (const Json& s : picture_["statements"]) steps += s["frames_in_all"].get<int64_t>();
    if (view_.step >= 0 && view_.step <= std::max<int64_t>(1, steps)) return;
    throw Error(
        fmt::format("{}step {}: the program has {}, numbered from 1", prefix_, view_.step, counted(steps, "step")));
  }

  // The statement that the step shows.
  const Json& statement() const {
    int64_t step = view_.step;
    const Json& statements = picture_["statements"];
    for (const Json& s : statements) {
      int64_t frames = s["frames_in_all"];
      if (step > 0 && step <= frames) return s;
      step -= frames;
    }
    return statements.back();
  }

  // The numbers of the indices that are axes.
  Json axes() const {
    const Json& indices = statement()["indices"];
    std::string given = fmt::format("{}axes {}", prefix_, fmt::join(view_.axes, ","));
    Json out = Json::array();
    for (const std::string& name : view_.axes) {
      auto found = std::find_if(indices.begin(), indices.end(), [&](const Json& i) { return i["name"] == name; });
      if (found == indices.end()) {
        std::string known;
        for (const Json& i : indices) known += (known.empty() ? "" : ", ") + i["name"].get<std::string>();
        throw Error(fmt::format("{}: {} is no index of the statement", given, name), {}, "its indices are " + known);
      }
      out.push_back(found - indices.begin());
    }
    if (out.size() > kMostAxes) throw Error(given + ": a picture has at most three axes");
    for (const std::string& name : view_.axes) {
      if (std::count(view_.axes.begin(), view_.axes.end(), name) > 1)
        throw Error(given + ": " + name + " is named twice");
    }
    return out;
  }

  const Json& picture_;
  const PictureView& view_;
  const std::string& prefix_;
};

}  // namespace

// The same code draws the page and the SVG, so an SVG needs Node to run it.
std::string svg_of(const Json& picture, const PictureView& view, const std::string& prefix) {
  std::string choice = Choice(picture, view, prefix).json().dump();
  std::string node = on_path("node");
  if (node.empty()) {
    throw Error("an SVG is drawn by Node, and there is no `node`", {},
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

}  // namespace distal::core

namespace distal {

std::string svg(const std::string& picture, const PictureView& view) {
  nlohmann::ordered_json data = nlohmann::ordered_json::parse(picture, nullptr, false);
  if (data.is_discarded() || !data.contains("statements")) {
    throw Error("svg: this text is no picture", {}, "pass what Kernel::picture returns");
  }
  return core::svg_of(data, view);
}

}  // namespace distal
