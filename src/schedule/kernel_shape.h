#pragma once

#include <string>
#include <vector>

#include "ir/concrete.h"
#include "lang/index_role.h"

namespace distal::core {

// An index that a loop of a kernel runs over. In a kernel whose output has one index, that is a row index, whichever
// operand has it.
struct KernelIndex {
  IndexRole role;
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
