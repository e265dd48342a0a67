#pragma once

#include <string>
#include <vector>

#include "ir/concrete.h"

namespace distal::core {

// What an index of the statement is to a kernel of a library.
enum class KernelRole { Batch, Row, Column, Sum };
std::string to_string(KernelRole role);  // "batch", "rows", "columns", "sum"

// The indices that the loops of a kernel run over. Rows are in the output and the left operand, columns in the output
// and the right one, sums in both operands, and batches in all three. A kernel with one index of the output calls it a
// row, whichever operand has it.
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

// The shape of the loops `variables` under the rest of the nest held still.
KernelShape kernel_shape(const Nest& nest, const std::string& kernel, const std::vector<IndexVar>& variables);

// Why the loops are not such a kernel; empty if they are one.
std::string why_not_kernel(const Nest& nest, const std::string& kernel, const std::vector<IndexVar>& variables);

}  // namespace distal::core
