// Generated CUDA sources as functions of the host, on the emulated GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "leaf/gpu/support/device.h"
#include "leaf/shared_library.h"

namespace distal::core::test {

// The function of a leaf.
using GpuFunction = int(const int64_t* numbers, void* const* data, const int64_t* const* stride,
                        const distal_gpu::Device& device);

// Sources that were compiled together. The function of source n is `leaf_n`.
class EmulatedKernels {
 public:
  explicit EmulatedKernels(const std::vector<std::string>& sources);
  GpuFunction* function(size_t source) const;

 private:
  SharedLibrary library_;
};

// Writes the headers of generated sources to a folder: their path begins with distal/.
void write_gpu_headers(const std::string& folder);
// Sources as one, each in a namespace of its own.
std::string joined_gpu_sources(const std::vector<std::string>& sources);

}  // namespace distal::core::test
