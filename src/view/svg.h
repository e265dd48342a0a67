#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "distal/picture.h"

namespace distal::core {

// One view of a picture (picture.h) as a file of SVG. Messages about a wrong view name its members with the prefix,
// such as "--step 7: …" of the command line.
std::string svg_of(const nlohmann::ordered_json& picture, const PictureView& view, const std::string& prefix = "");

}  // namespace distal::core
