#pragma once

#include <map>
#include <string>

#include "engine/legion/names.h"
#include "engine/legion/text_writer.h"
#include "program/program.h"

namespace distal::core {

// The C++ names of tensors.
using TensorNames = std::map<std::string, std::string>;

// What a statement's text needs beside the names of its variables.
struct StatementNames {
  size_t number;  // from 1 on
  std::string grid;
  const TensorNames& tensors;
  std::string nest;  // the function of its loops; empty if there is none
  std::string gpu;   // the function of its kernel; empty if it runs on CPUs
  ElementType type;
};

// The function of a leaf: what its task calls.
void write_leaf(const Stage& stage, const StatementNames& statement, const CppNames& names, TextWriter& writer);

// The function that issues the launches of a statement.
void write_statement(const Stage& stage, const StatementNames& statement, const CppNames& names, TextWriter& writer);

}  // namespace distal::core
