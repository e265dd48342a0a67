#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace distal::core {

// One self-contained HTML page that shows a picture (picture.h) in all views.
std::string page_of(const nlohmann::ordered_json& picture);

}  // namespace distal::core
