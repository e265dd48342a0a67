#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "check/reference.h"
#include "engine/runner.h"
#include "store/tensor_store.h"

namespace distal::core {

// What a program runs on: the threads of this process, or several processes that all do the same calls.
class Site {
 public:
  virtual ~Site() = default;

  virtual TensorStore& store() = 0;  // with the pieces of this process, and perhaps more
  // Waits for all processes. One that begins later than others would find its run shorter than it is.
  virtual void meet() = 0;
  virtual RunCounts run() = 0;
  virtual RunCounts run_stage(size_t stage) = 0;  // one statement alone

  virtual bool has_all_pieces() const = 0;            // no other process has any
  virtual bool is_here(int64_t processor) const = 0;  // its pieces are this process's
  // The whole of a tensor in row-major order, on every process or on the one that speaks.
  virtual std::vector<std::byte> gather(int tensor, bool everywhere) = 0;
  virtual bool speaks() const = 0;  // prints and saves for all
  virtual CheckResult of_all(const CheckResult& mine) = 0;

  virtual std::string processors() const = 0;  // what they are, in words
  virtual int64_t peak_per_processor() const = 0;
  virtual int64_t resident_bytes() const = 0;  // of the process that has most
};

using MakeLeaves = std::function<std::vector<std::unique_ptr<LeafKernel>>()>;  // one a statement

}  // namespace distal::core
