#pragma once

#include <string>
#include <vector>

#include "ir/concrete.h"

namespace distal::core {

// The role of an index of the statement in a kernel.
enum class KernelRole { Batch, Row, Column, Sum };
std::string to_string(KernelRole role);  // "batch", "rows", "columns", "sum"

// An index that a loop of a kernel runs over. A row index is in the output and the left operand, a column index in the
// output and the right operand, a sum index in both operands, a batch index in all three. In a kernel whose output has
// one index, that is a row index, whichever operand has it.
struct KernelIndex {
  KernelRole role;
  IndexVar variable;
};
using KernelShape = std::vector<KernelIndex>;  // by role: batch, row, column, sum

// "gemm, gemv, ... and batched_gemm".
std::string kernel_names();
bool is_kernel(const std::string& name);
// "a gemm", "an axpy".
std::string with_article(const std::string& kernel);

// The shape of the loops `variables`, with all other loops of the nest fixed. The loops must fit the kernel.
KernelShape kernel_shape(const Nest& nest, const std::string& kernel, const std::vector<IndexVar>& variables);

// Why the kernel cannot replace the loops; empty if it can.
std::string why_not_kernel(const Nest& nest, const std::string& kernel, const std::vector<IndexVar>& variables);

}  // namespace distal::core
