#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lang/module.h"
#include "program/program.h"

namespace distal::core {

// Called after every pass with the pass's name and its result as text.
using Dump = std::function<void(const std::string& pass, const std::string& text)>;

// Compiles a Module to a Program. Needs no param values: sizes stay symbols.
std::shared_ptr<const Program> compile(const Module& module, const Dump& dump = {});

}  // namespace distal::core
