#pragma once

#include "view/film.h"

namespace distal::core {

// The data of all pictures of a plan, in the form that docs/pictures.md describes. `title` names the program.
nlohmann::ordered_json picture_of(const Plan& plan, const std::string& title, const DetailLimits& limits = {});

}  // namespace distal::core
