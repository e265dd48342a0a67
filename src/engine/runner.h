#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "distal/progress.h"
#include "engine/arena.h"
#include "engine/broadcast.h"
#include "engine/buffers.h"
#include "engine/script.h"
#include "engine/task_stream.h"
#include "engine/transport.h"
#include "leaf/leaf.h"
#include "plan/memory.h"
#include "plan/walk.h"
#include "store/tensor_store.h"
#include "support/team.h"

namespace distal::core {

// What a run did, counted where bytes are moved.
struct RunCounts {
  int64_t bytes_moved = 0;
  int64_t bytes_copied = 0;
  int64_t messages = 0;
  int64_t tasks = 0;

  RunCounts& operator+=(const RunCounts& other);
  bool operator==(const RunCounts&) const = default;
};

struct RunnerOptions {
  // Of this process; 0: one per core. If there are more threads than processors in this process, they are divided among
  // the processors, whose leaves use them in parallel.
  int threads = 0;
  bool checked = false;            // check that acquired rectangles are complete and that leaves touch nothing else
  Transport* transport = nullptr;  // null if all processors are in this process
};

// Carries out a plan: visits its steps in order and makes a task of each fetch, leaf and transfer. Leaves that run
// faster together become one task. A task depends on the earlier tasks that use the same memory. With a transport the
// runner does this for the processors of this process, and exchanges messages with the other processes. It runs as
// often as wanted, one run at a time; the store's pieces may change between runs. The first run records the tasks of
// each stage that is not too long and has no messages; later runs replay them.
class Runner : public PlanVisitor {
 public:
  Runner(const Plan& plan, const MemoryNeeds& needs, Leaves leaves, Allocator& allocator, TensorStore& store,
         const RunnerOptions& options);

  // Later runs report to it how many runs of the leaf are done, and end with an Error when it is cancelled.
  void watch(Progress* progress) { progress_ = progress; }
  // Whether the last run was cancelled before all of its leaves ran. Without a transport it has thrown Interrupted.
  // With one it has gone on without them, because other processes wait for its messages: the caller tells all of them.
  bool skipped_leaves() const { return skipped_leaves_; }
  RunCounts run();
  RunCounts run_stage(size_t stage);  // one statement alone

  void begin(const StagePlan& stage) override;
  void init(int tensor) override;
  void fetch(const FetchStep& step) override;
  void leaf(const LeafStep& step) override;
  void release(const ReleaseStep& step) override;
  void end(const StagePlan& stage) override;

 private:
  // One copy into an acquired rectangle.
  struct PieceCopy {
    View from;
    size_t rect;  // of the slot
    Rect part;
  };
  // How a slot is filled.
  struct Filling {
    std::vector<PieceCopy> copies;   // from memory within reach
    std::vector<PieceCopy> inside;   // from one rectangle of the slot to another, after the messages
    std::set<Slot*> read;            // the slots that `copies` read
    std::vector<Message> messages;   // one per sender
    std::vector<int64_t> delivered;  // by rectangle: elements that arrive by message
  };
  // Set when the first part of a message of the plan arrives. The message counts once, in however many parts it comes.
  using Arrival = std::shared_ptr<std::atomic<bool>>;
  // How several tasks of one release use a piece or a copy at the same time.
  enum class Sharing { Reads, Writes };

  ElementType type() const { return store_.type(); }
  const TensorPlan& tensor(int index) const { return plan_.tensors[static_cast<size_t>(index)]; }
  bool is_here(int64_t processor) const { return !options_.transport || options_.transport->is_here(processor); }
  bool all_leaves_overwrite() const;
  bool first_leaf_may_overwrite() const;

  // runner.cpp
  RunCounts run_once(size_t stage);
  RunCounts replay(Script& script);
  RunCounts stream(size_t stage);
  void drop_stale_scripts();
  void drop_scripts();
  void rest();
  void clean_up();
  void take_workspaces();
  SlotRing& buffers_at(int acquire, int64_t place);
  void leaf_on(int64_t processor, const std::vector<int64_t>& values);
  // Where an operand of a leaf lies.
  struct Operand {
    Slot* slot;
    size_t rect;
  };
  size_t rect_for(int64_t processor, const LeafAccess& access, const Slot& slot, const std::vector<int64_t>& values);
  void run_or_batch(int64_t processor, LeafArguments arguments, const std::vector<Operand>& operands);
  void run_batch(int64_t processor);
  void run_all_batches();
  void require_wanted() const {
    if (progress_ && !options_.transport) progress_->require_wanted();
  }
  bool skips_leaves();
  bool first_leaf_overwrites(int64_t processor, Slot& output, const std::vector<int64_t>& values);
  bool is_all_of_piece(const AcquirePlan& acquire, const Slot& slot, int64_t place) const;
  void clear_piece(int64_t processor);
  void fill_memory(Slot& slot, int byte);
  void clear_if_blank(Slot& slot);
  void check_in_reach(int64_t processor, const LeafAccess& access, const Operand& operand,
                      const std::vector<int64_t>& values);
  void submit_barrier(Resource& resource);

  // acquire_tasks.cpp
  std::vector<Slot*> source_slots(const FetchStep& step, const Fetch& fetch);
  void count(const FetchStep& step, const Fetch& fetch);
  void count_arrival(const Arrival& arrival, int64_t bytes);
  void fetch_one(const FetchStep& step, const Fetch& fetch, const std::vector<Slot*>& sources);
  void lay_out(const AcquirePlan& acquire, const Fetch& fetch, Slot& slot);
  void init_output_slot(const AcquirePlan& acquire, int64_t place, Slot& slot);
  void fill_slot(const AcquirePlan& acquire, const Fetch& fetch, Slot& slot, const std::vector<Slot*>& sources);
  bool comes_by_message(const FetchPiece& piece, int64_t place) const;
  std::vector<Delivery> deliveries(const Fetch& fetch, const std::vector<size_t>& copied, int64_t source) const;
  std::set<int64_t> senders_of(const Fetch& fetch) const;
  Relays relays_of(const FetchStep& step) const;
  int64_t relay(int64_t place, int64_t source) const;
  std::vector<PieceCopy> copies_inside(const Fetch& fetch, const Slot& slot, const std::vector<size_t>& copied) const;
  Filling filling_of(const AcquirePlan& acquire, const Fetch& fetch, const Slot& slot,
                     const std::vector<size_t>& copied, const std::vector<Slot*>& sources);
  TaskPtr send_task(Message message);
  TaskPtr receive_task(Message message, const Arrival& arrival = {});
  void submit_receive(Message message, Slot& slot, bool alone);
  void submit_copies(const AcquirePlan& acquire, int64_t place, Slot& slot, Filling filling);
  void serve(const FetchStep& step, const Fetch& fetch, const std::vector<Slot*>& sources);
  void submit_send(Message message, const std::vector<Slot*>& read);
  void carry_out(const std::string& who, int tensor, const std::vector<PieceCopy>& copies,
                 const std::vector<View>& views, const std::vector<Rect>& rects, const std::vector<int64_t>& in_place,
                 std::vector<int64_t> filled);

  // release_tasks.cpp
  void clear_blank_copies(const ReleaseStep& step);
  Slot* source_of(const ReleaseStep& step, const Transfer& transfer);
  Slot* target_of(const ReleaseStep& step, const Transfer& transfer);
  void put(const View& to, const View& from, const Rect& rect, bool sum);
  void transfer(const ReleaseStep& step, const Transfer& transfer);
  int64_t bytes_of(const ReleaseStep& step, std::span<const Transfer> transfers) const;
  Message token(int64_t source, int64_t destination) const;
  void store_remotely(const ReleaseStep& step, std::span<const Transfer> transfers);
  void grant_remote_store(const Transfer& transfer);
  void transfer_by_message(const ReleaseStep& step, std::span<const Transfer> transfers, const Arrival& arrival);
  std::vector<std::vector<Rect>> messages_of(const ReleaseStep& step, std::span<const Transfer> transfers) const;
  void send_parts(const ReleaseStep& step, const Transfer& first, const std::vector<Rect>& rects);
  void receive_home(const ReleaseStep& step, const Transfer& first, const std::vector<Rect>& rects,
                    const Arrival& arrival);
  void receive_and_add(const ReleaseStep& step, const Transfer& transfer, const Rect& part, const Arrival& arrival);
  void share(Resource& resource, Sharing sharing, const TaskPtr& task, std::vector<TaskPtr>& dependencies);
  void take(Resource& resource, const TaskPtr& task, std::vector<TaskPtr>& dependencies);

  const Plan& plan_;
  const MemoryNeeds& needs_;
  Leaves leaves_;
  TensorStore& store_;
  RunnerOptions options_;

  Progress* progress_ = nullptr;
  std::atomic<bool> skipped_leaves_{false};

  const StagePlan* stage_ = nullptr;
  size_t number_ = 0;
  std::vector<std::unordered_map<int64_t, std::unique_ptr<SlotRing>>> buffers_;  // [acquire][place]
  std::unordered_map<int64_t, std::byte*> workspaces_;                           // by processor
  struct Staging {
    std::byte* memory = nullptr;
    Resource resource;
  };
  std::unordered_map<int64_t, std::vector<Staging>> staging_;  // by processor: two buffers, used in turn
  std::unordered_map<int64_t, size_t> staged_;                 // by processor: how often one was used
  std::vector<Resource> homes_;                                // by processor: the output's piece
  std::vector<bool> blank_;              // by processor: nothing has been written to that piece, not even zeros
  std::map<Resource*, Sharing> shared_;  // in the current release
  Relays relays_;                        // of the current fetch
  std::vector<TaskPtr> last_leaf_;       // by processor
  // Runs of the leaf that become one task. They write to the same slot. A run is kept for the next one only if no task
  // changes the memory of its operands.
  struct LeafBatch {
    std::vector<LeafArguments> runs;
    Slot* output = nullptr;
    std::set<Slot*> slots;  // the slots whose own memory the runs use
  };
  std::vector<LeafBatch> batches_;   // by processor
  bool gains_from_joining_ = false;  // of the current stage's leaf
  std::vector<Interval<int64_t>> intervals_;
  std::atomic<int64_t> moved_{0};
  std::atomic<int64_t> messages_{0};
  std::atomic<int64_t> copied_{0};

  Arenas arenas_;
  std::vector<std::unique_ptr<Script>> scripts_;  // by stage; null if the stage cannot be replayed
  std::vector<int64_t> versions_;                 // by tensor: the version of the pieces that the scripts point into
  // Last, so that these threads end before the members that they use are destroyed.
  std::unordered_map<int64_t, std::unique_ptr<Team>> teams_;  // by processor; none if there are too few threads
  Team crew_;                                                 // the threads that replay scripts
  TaskStream stream_;
};

}  // namespace distal::core
