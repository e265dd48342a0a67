#pragma once

#include <string>
#include <vector>

#include "leaf/gpu/gpu_leaf.h"
#include "support/text_writer.h"

namespace distal::core {

// The CUDA source of a leaf: its kernel and a function that starts it,
//   extern "C" int NAME(const Int* numbers, void* const* data, const Int* const* stride, const Device& device),
// which returns the status of cuBLAS: 0 if all is well. `numbers` are the first value and the count of each index if
// the leaf runs over a box, as leaf_box orders them, else the extents and then the values of all variables; then the
// values of params_as_numbers. It may also return kWorkspacesTooLarge of device.h.
std::string gpu_kernel_source(const Stage& stage, ElementType type, const StorageOrders& orders,
                              const std::string& function);

// The lines that all these sources begin with. `what` is what the leaf computes.
void write_kernel_head(TextWriter& writer, const std::string& what, const std::vector<std::string>& headers);

// T, the type of the elements, and C, the type to compute in.
void write_kernel_types(TextWriter& writer, ElementType type);

}  // namespace distal::core
