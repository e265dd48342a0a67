#pragma once

#include <string>

namespace distal::core {

// The page of pictures, as text. The build makes this from the files in view/page.
struct PageFiles {
  std::string html;
  std::string page_style;
  std::string drawing_style;
  std::string script;   // of the page
  std::string command;  // for Node: writes one view as an SVG
};

const PageFiles& page_files();

}  // namespace distal::core
