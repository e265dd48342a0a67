#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "check/reference.h"
#include "engine/runner.h"
#include "store/tensor_store.h"
#include "support/process_group.h"

namespace distal::core {

// Runs a plan: on the threads of this process, or on several processes. Several processes make the same calls in the
// same order.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual TensorStore& store() = 0;  // has the pieces of this process, and perhaps those of other processes
  // A barrier over all processes, so that all of them start their clocks at the same time.
  virtual void barrier() = 0;
  virtual RunCounts run() = 0;
  virtual RunCounts run_stage(size_t stage) = 0;  // runs one statement

  virtual bool has_all_pieces() const = 0;             // whether this is the only process
  virtual bool is_local(int64_t processor) const = 0;  // whether this process has the processor's pieces
  // A whole tensor in row-major order. Without `everywhere` only the reporter gets it.
  virtual std::vector<std::byte> gather(int tensor, bool everywhere) = 0;
  virtual bool is_reporter() const = 0;  // whether this process prints for all
  virtual const ProcessGroup& group() const = 0;
  // Merges the check results of all processes.
  virtual CheckResult combined(const CheckResult& mine) = 0;

  virtual std::string description() const = 0;  // such as "threads" or "4 MPI ranks on one node, one thread each"
  virtual int64_t peak_per_processor() const = 0;
  virtual int64_t resident_bytes() const = 0;  // the maximum over the processes
};

using MakeLeaves = std::function<std::vector<std::unique_ptr<LeafKernel>>()>;  // one leaf per statement

}  // namespace distal::core
