#pragma once

#include <distal/kernel.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace distal::python {

// A kernel on the ranks of a communicator, of any MPI.
class RanksKernel {
 public:
  virtual ~RanksKernel() = default;
  virtual std::vector<int64_t> processors() const = 0;
  virtual RunReport run(const RunOptions& options) = 0;
};

// What a library for one MPI has. The package links no MPI, because two in one process break: it loads the library for
// the MPI that the process has. A communicator is the number or the address that mpi4py calls its handle.
struct RanksLibrary {
  std::unique_ptr<RanksKernel> (*kernel)(const Kernel& kernel, int64_t communicator);
  void (*load)(const TensorHandle& tensor, const std::string& npy_file, int64_t communicator);
  void (*save)(const TensorHandle& tensor, const std::string& npy_file, int64_t communicator);
};

// The function of the library that returns its RanksLibrary.
using GetRanksLibrary = const RanksLibrary* (*)();
inline constexpr const char* kGetRanksLibrary = "distal_ranks_library";

}  // namespace distal::python
