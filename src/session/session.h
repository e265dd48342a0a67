#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "engine/runner.h"
#include "session/prepared_program.h"
#include "support/forks.h"
#include "support/process_group.h"

namespace distal::core {

inline constexpr int kMaxThreads = 4096;

struct SessionOptions {
  int threads = 0;          // of this process; 0: one per core it may use
  bool own_memory = false;  // each processor touches only its own memory, so that every acquire is a copy
  LeafChoice leaf = LeafChoice::Automatic;

  bool operator==(const SessionOptions&) const = default;
  // Throws an Error if the number of threads is negative or more than kMaxThreads.
  void require_valid() const;
};

// A prepared program on a topology, with its leaves and its data: it runs as often as wanted, one run at a time. It
// keeps memory, threads and recorded tasks for the next run. This class is for one process, whose threads run all
// processors; MpiSession is for the ranks of a communicator. Several processes make the same calls in the same order.
class Session {
 public:
  Session(std::shared_ptr<PreparedProgram> prepared, const SessionOptions& options);
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::shared_ptr<PreparedProgram>& prepared() const { return prepared_; }
  const Plan& plan() const { return prepared_->plan(); }
  bool is_for(const std::shared_ptr<PreparedProgram>& prepared, const SessionOptions& options) const {
    return prepared_ == prepared && options_ == options && is_of_this_process();
  }
  // False in a forked child for a session of its parent: the child has none of its threads.
  bool is_of_this_process() const { return forks_ == forks(); }

  // Allocates pieces for all tensors and makes the session ready to run. Throws an Error if memory does not suffice for
  // the run and for `other_bytes` of the caller in each process.
  virtual void place_pieces(int64_t other_bytes);
  // Makes a session ready whose caller puts pieces into the store before each run, and may take them out after it.
  void use_given_pieces();
  // Has the pieces of this process, and perhaps those of other processes.
  TensorStore& store() { return store_; }
  const TensorStore& store() const { return store_; }

  // Later runs report to it, and end when it is cancelled. Null: to none.
  void watch(Progress* progress) { runner_->watch(progress); }
  // Counts of all processes together.
  virtual RunCounts run() { return runner_->run(); }
  virtual RunCounts run_stage(size_t stage) { return runner_->run_stage(stage); }  // one statement alone
  // A barrier over all processes, so that all of them start their clocks at the same time.
  virtual void barrier() {}

  virtual bool has_all_pieces() const { return true; }  // whether this is the only process
  virtual bool is_here(int64_t) const { return true; }  // whether a processor is in this process
  virtual const ProcessGroup& group() const { return alone_; }
  bool is_reporter() const { return group().is_first(); }  // whether this process prints for all
  virtual std::string description() const { return "threads"; }
  // A whole tensor in row-major order.
  virtual std::vector<std::byte> gather(int tensor) const { return store_.gather(tensor); }
  // The most bytes that one processor held so far: of this process, and of all.
  int64_t peak_here() const { return peak_with_pieces(allocator_, store_); }
  virtual int64_t peak_per_processor() const { return peak_here(); }
  virtual int64_t resident_bytes() const;  // the maximum over the processes

 protected:
  Session(std::shared_ptr<PreparedProgram> prepared, const SessionOptions& options, const std::string& engine);
  const SessionOptions& options() const { return options_; }
  void start(const MemoryNeeds& needs, const RunnerOptions& options);
  void stop() { runner_ = nullptr; }
  bool is_started() const { return runner_ != nullptr; }
  bool skipped_leaves() const { return runner_->skipped_leaves(); }
  void set_store(TensorStore store) { store_ = std::move(store); }

 private:
  std::shared_ptr<PreparedProgram> prepared_;
  SessionOptions options_;
  int forks_ = forks();
  ProcessGroup alone_;
  Allocator allocator_;  // counts what is acquired, and not the pieces
  TensorStore store_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace distal::core
