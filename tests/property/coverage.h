#pragma once

#include <set>
#include <string>

#include "lang/module.h"
#include "plan/plan.h"

namespace distal::core::property {

using Features = std::set<std::string>;

// What of the language a program uses, and what its plan had to do; so that a test can demand that everything occurs.
void add_language_features(const Module& module, Features& features);
void add_plan_features(const Plan& plan, Features& features);

// Every name that can be among them.
const Features& all_features();

}  // namespace distal::core::property
