#include "view/page.h"

#include <string_view>
#include <utility>

#include "support/error.h"
#include "view/page_files.h"

namespace distal::core {

namespace {

// The JSON, changed so that no text in it ends the HTML element around it.
std::string json_in_html(const nlohmann::ordered_json& json) {
  std::string text = json.dump(), out;
  out.reserve(text.size());
  for (char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string page_of(const nlohmann::ordered_json& picture) {
  const PageFiles& files = page_files();
  const std::pair<std::string_view, std::string> parts[] = {{"@page_css@", files.page_style},
                                                            {"@drawing_css@", files.drawing_style},
                                                            {"@data@", json_in_html(picture)},
                                                            {"@script@", files.script}};
  std::string out;
  size_t done = 0;
  for (const auto& [mark, text] : parts) {
    size_t at = files.html.find(mark, done);
    if (at == std::string::npos) throw InternalError("the page has no " + std::string(mark));
    out += files.html.substr(done, at - done) + text;
    done = at + mark.size();
  }
  return out + files.html.substr(done);
}

}  // namespace distal::core
