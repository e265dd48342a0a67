#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "distal/tensor.h"

namespace distal {

// What a kernel moves and holds, counted from its plan; docs/language.md says what each number means.
struct Cost {
  // What is moved of one tensor.
  struct PerTensor {
    int64_t bytes = 0;     // moved from one processor to another
    int64_t messages = 0;  // in so many
    std::string pattern;   // none, broadcast, shift, gather, reduce or mixed
  };
  int64_t processors = 1;                    // of the largest machine
  double flops = 0;                          // of the statements as written, whatever the leaf does
  int64_t bytes_moved = 0;                   // from one processor to another
  std::vector<int64_t> bytes_by_level;       // the same by the outermost level of the machine that is crossed
  int64_t messages = 0;                      // in which the bytes move
  int64_t max_bytes_received = 0;            // by the processor that receives most
  int64_t max_bytes_sent = 0;                // by the processor that sends most
  int64_t peak_bytes_per_processor = 0;      // an upper bound: as if each processor had memory of its own
  std::map<std::string, PerTensor> tensors;  // by name
};

// What a run did, counted where bytes were really handed over.
struct RunReport {
  double seconds = 0;        // of the run alone, without planning and compiling
  int64_t bytes_moved = 0;   // from one processor to another; what Cost::bytes_moved says
  int64_t bytes_copied = 0;  // of memory, which may be none where processors share it
  int64_t messages = 0;      // what Cost::messages says
  // The most that a processor has had in pieces, copies and workspaces: what Cost says with own_memory, less where what
  // others have is used where it lies, more where ranks fetch further ahead. Copies that a node keeps of an
  // application's memory are not in it.
  int64_t peak_bytes_per_processor = 0;
  int64_t resident_bytes = 0;  // the most that a process has ever had, as the system counts it
};

// How to run. What comes out is the same, but for the last bits of sums, whose order is free unless it is asked for.
struct RunOptions {
  int threads = 0;            // 0: one a core
  bool own_memory = false;    // let a processor touch only memory of its own
  bool strict_order = false;  // add sums in the order of the schedule's loops: equal bits on any number of threads
};

// Statements compiled together with their schedules: a value that can be run many times, on new data, with new values
// of its params and with tensors that were redistributed. Several threads may run one kernel at once on a tensor set
// that they do not write to at once. It keeps what a run made, threads and memory for copies included, for the next run
// under the same values, formats and options, which then costs little more than the computation itself.
class Kernel {
 public:
  // The statements that define these tensors, in this order.
  explicit Kernel(const std::vector<TensorHandle>& defined);

  // Runs under the current values of the params on the current data of the tensors.
  RunReport run(const RunOptions& options = {}) const;

  std::string text() const;     // the whole program as a .distal file, which parses back to the same value
  std::string program() const;  // the lowered Program
  std::string plan() const;     // every transfer of every step, under the current values of the params
  Cost cost() const;            // counted from the Plan under the current values of the params

 private:
  friend class TensorHandle;
  friend class MpiKernel;
  struct State;
  explicit Kernel(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace distal
