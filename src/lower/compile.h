#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lang/module.h"
#include "lower/lower.h"
#include "program/program.h"

namespace distal::core {

// Called after every pass with its name and what it made, as text.
using Dump = std::function<void(const std::string& pass, const std::string& text)>;

// From what the user said to the Program. No param value is needed; sizes stay symbols.
std::shared_ptr<const Program> compile(const Module& module, const Dump& dump = {},
                                       DefaultCommunicate default_communicate = DefaultCommunicate::Innermost);

}  // namespace distal::core
