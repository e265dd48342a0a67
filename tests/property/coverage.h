#pragma once

#include <set>
#include <string>

#include "lang/module.h"
#include "plan/plan.h"

namespace distal::core::property {

using Features = std::set<std::string>;

// Add the names of the language features that a program uses, and of the cases that its plan contains. A test checks
// that every feature occurs in the random programs.
void add_language_features(const Module& module, Features& features);
void add_plan_features(const Plan& plan, Features& features);

// All names that these functions can add.
const Features& all_features();

}  // namespace distal::core::property
