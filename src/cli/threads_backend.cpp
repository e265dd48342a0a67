#include "cli/threads_backend.h"

#include "cli/run_report.h"
#include "plan/verify.h"
#include "support/available_memory.h"

namespace distal::core {

namespace {

class ThreadsBackend : public Backend {
 public:
  ThreadsBackend(const Plan& plan, const MakeLeaves& make_leaves, ThreadsOptions options, int64_t other_bytes)
      : needs_(memory_needs(plan, reach_of(options))), allocator_(plan.processors) {
    int64_t have = available_memory();
    require_memory(needs_.total + other_bytes, have);
    verify(plan, needs_, {.total = have - other_bytes});
    store_ = std::make_unique<TensorStore>(plan, allocator_);
    engine_ = std::make_unique<ThreadsEngine>(plan, needs_, make_leaves(), allocator_, *store_, options);
  }

  TensorStore& store() override { return *store_; }
  void barrier() override {}
  RunCounts run() override { return engine_->run(); }
  RunCounts run_stage(size_t stage) override { return engine_->run_stage(stage); }
  bool has_all_pieces() const override { return true; }
  bool is_local(int64_t) const override { return true; }
  std::vector<std::byte> gather(int tensor, bool) override { return store_->gather(tensor); }
  bool is_reporter() const override { return true; }
  const ProcessGroup& group() const override { return alone_; }
  CheckResult combined(const CheckResult& mine) override { return mine; }
  std::string description() const override { return "threads"; }
  int64_t peak_per_processor() const override { return allocator_.peak_per_processor(); }
  int64_t resident_bytes() const override { return core::resident_bytes(); }

 private:
  ProcessGroup alone_;
  MemoryNeeds needs_;
  Allocator allocator_;
  std::unique_ptr<TensorStore> store_;
  std::unique_ptr<ThreadsEngine> engine_;
};

}  // namespace

std::unique_ptr<Backend> make_threads_backend(const Plan& plan, const MakeLeaves& make_leaves, ThreadsOptions options,
                                              int64_t other_bytes) {
  return std::make_unique<ThreadsBackend>(plan, make_leaves, options, other_bytes);
}

}  // namespace distal::core
