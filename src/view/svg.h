#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "distal/picture.h"

namespace distal::core {

// One view of a picture (picture.h) as an SVG file. In messages about a wrong view, `prefix` stands before the names of
// its members: "--" gives "--step 7: …", as on the command line.
std::string svg_of(const nlohmann::ordered_json& picture, const PictureView& view, const std::string& prefix = "");

}  // namespace distal::core
