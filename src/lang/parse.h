#pragma once

#include <string>

#include "lang/module.h"

namespace distal::core {

// Parses the text of a .distal file and checks it (`check`). Throws an Error at the first mistake.
Module parse_module(const std::string& text, const std::string& source_name);

// A tensor of the module in another format: `text` is what may stand behind the colon of its declaration.
Tensor parse_format(const std::string& text, const std::string& source_name, const Module& module,
                    const Tensor& tensor);

// Reads and parses a file; an unreadable file is an Error.
Module parse_file(const std::string& path);

}  // namespace distal::core
