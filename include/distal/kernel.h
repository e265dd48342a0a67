#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distal/certificate.h"
#include "distal/cost.h"
#include "distal/find.h"
#include "distal/progress.h"
#include "distal/tensor.h"

namespace distal {

// What a run did, counted where the transfers happen.
struct RunReport {
  double seconds = 0;        // of the run alone, without planning and compiling
  int64_t bytes_moved = 0;   // between processors; equals Cost::bytes_moved
  int64_t bytes_copied = 0;  // physically copied; 0 if all processors share memory
  int64_t messages = 0;      // equals Cost::messages
  // The most bytes that one processor held in pieces, copies and workspaces. With own_memory it equals Cost's figure.
  // It is lower where a processor reads memory of others in place, and higher where MPI ranks prefetch more steps. It
  // does not count the copies that a node keeps of the application's buffers.
  int64_t peak_bytes_per_processor = 0;
  int64_t resident_bytes = 0;  // the peak resident memory of a process, as the system counts it
};

// How to run. Options change only the last bits of a result: without strict_order sums may be added in any order.
struct RunOptions {
  int threads = 0;               // 1 to 4096, or 0 for one per core
  bool own_memory = false;       // give every processor memory of its own, so that every acquire is a copy
  bool strict_order = false;     // add sums in the order of the schedule's loops: equal bits on any number of threads
  Progress* progress = nullptr;  // is told how far the run is, and can end it; not owned
};

// Statements compiled together with their schedules. A kernel can run many times: on new data, with new values of its
// params, and after its tensors were redistributed. Several threads may call run() at once if no two of these runs
// write the same memory. A kernel keeps threads, buffers and plans for the next run with the same param values, formats
// and options; such a run costs little more than the computation itself.
//
// A statement whose schedule() was never called gets one that is found, for the current values of the params, and keeps
// it when these change. So do grids of machines and formats of tensors that were left out.
class Kernel {
 public:
  // Compiles the statements that define these tensors, in this order. What they leave out is found.
  explicit Kernel(const std::vector<TensorHandle>& defined, const FindOptions& find = {});
  Kernel(const Kernel&) = default;             // the same kernel, also for std::move
  Kernel& operator=(const Kernel&) = default;  // the same

  // Runs with the current values of the params on the current data of the tensors.
  RunReport run(const RunOptions& options = {}) const;

  std::string text() const;     // the whole program as a .distal file, with what was found; it parses to the same
  std::string program() const;  // the lowered Program
  std::string plan() const;     // every transfer of every step, for the current values of the params
  Cost cost() const;            // the cost for the current values of the params, counted from the Plan
  // How far each statement is from the least communication, for the current values of the params.
  std::vector<Certificate> certificates() const;

  // Pictures of the plan for the current values of the params, as `distal draw` makes them (docs/pictures.md).
  std::string page() const;     // a page of HTML with all views, which needs no other file
  std::string picture() const;  // the data of the page, as JSON

 private:
  friend class TensorHandle;
  friend class MpiKernel;
  friend class Program;
  struct State;
  explicit Kernel(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace distal
