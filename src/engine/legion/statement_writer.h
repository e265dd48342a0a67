#pragma once

#include <map>
#include <string>

#include "engine/legion/names.h"
#include "program/program.h"
#include "support/text_writer.h"

namespace distal::core {

// By tensor: its C++ name.
using TensorNames = std::map<std::string, std::string>;

// The names that a statement's text needs besides those of its variables.
struct StatementNames {
  size_t number;  // from 1 on
  std::string grid;
  const TensorNames& tensors;
  std::string nest;             // the function with the leaf's loops; empty if there is none
  std::string gpu;              // the function that starts the leaf's kernel; empty if the leaf runs on CPUs
  std::string gpu_text = {};    // what carries out the leaf on a GPU, in words
  bool gpu_overwrites = false;  // whether that overwrites its part of the output
};

// The indices of sums that do not cover all terms. The loops of a sum without iterations would leave out the others, so
// such an index must have values.
std::vector<IndexVar> sums_beside_other_terms(const Statement& statement);
std::string empty_sum_text(const IndexVar& v);

// Writes the function that a leaf's task calls.
void write_leaf(const Stage& stage, const StatementNames& statement, const CppNames& names, TextWriter& writer);

// Writes the function that issues the launches of a statement.
void write_statement(const Stage& stage, const StatementNames& statement, const CppNames& names, TextWriter& writer);

}  // namespace distal::core
