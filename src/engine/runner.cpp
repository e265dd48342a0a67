#include "engine/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "support/cores.h"

namespace distal::core {

namespace {

// The most leaf runs in one task: enough to amortise the overhead of short runs.
constexpr size_t kMaxBatch = 16;

int threads_of(const RunnerOptions& options) { return options.threads > 0 ? options.threads : usable_cores(); }

int64_t processors_here(const Plan& plan, const Transport* transport) {
  if (!transport) return plan.processors;
  int64_t count = 0;
  for (int64_t p = 0; p < plan.processors; ++p) count += transport->is_here(p) ? 1 : 0;
  return count;
}

// One worker per processor, but no more than threads.
int workers_for(const Plan& plan, const RunnerOptions& options) {
  return static_cast<int>(std::clamp<int64_t>(processors_here(plan, options.transport), 1, threads_of(options)));
}

// Tells the transport, for the lifetime of this object, that a leaf runs.
class Computing {
 public:
  explicit Computing(Transport* transport) : transport_(transport) {
    if (transport_) transport_->set_computing(true);
  }
  ~Computing() {
    if (transport_) transport_->set_computing(false);
  }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

 private:
  Transport* transport_;
};

TaskGraph::Tasks tasks_of(const RunnerOptions& options) {
  return options.transport ? TaskGraph::Tasks::Mixed : TaskGraph::Tasks::Synchronous;
}

TaskGraph::OnFailure on_failure(const RunnerOptions& options) {
  if (!options.transport) return {};
  return [transport = options.transport](const std::exception_ptr& why) { transport->fail(why); };
}

}  // namespace

RunCounts& RunCounts::operator+=(const RunCounts& other) {
  bytes_moved += other.bytes_moved;
  bytes_copied += other.bytes_copied;
  messages += other.messages;
  tasks += other.tasks;
  return *this;
}

Runner::Runner(const Plan& plan, const MemoryNeeds& needs, Leaves leaves, Allocator& allocator, TensorStore& store,
               const RunnerOptions& options)
    : plan_(plan),
      needs_(needs),
      leaves_(std::move(leaves)),
      store_(store),
      options_(options),
      arenas_(allocator),
      scripts_(plan.stages.size()),
      versions_(plan.tensors.size(), 0),
      crew_(workers_for(plan, options)),
      stream_(crew_.size(), tasks_of(options), on_failure(options)) {
  // Threads beyond one per processor form teams that share the work of a leaf.
  int64_t size = threads_of(options) / std::max<int64_t>(1, processors_here(plan, options.transport));
  for (int64_t p = 0; p < plan.processors && size > 1; ++p) {
    if (is_here(p)) teams_[p] = std::make_unique<Team>(static_cast<int>(size));
  }
}

RunCounts Runner::run() {
  skipped_leaves_ = false;
  drop_stale_scripts();
  RunCounts sum;
  for (size_t s = 0; s < plan_.stages.size(); ++s) sum += run_once(s);
  rest();
  return sum;
}

RunCounts Runner::run_stage(size_t stage) {
  skipped_leaves_ = false;
  drop_stale_scripts();
  RunCounts counts = run_once(stage);
  rest();
  return counts;
}

RunCounts Runner::run_once(size_t stage) {
  copied_ = 0;
  return scripts_[stage] ? replay(*scripts_[stage]) : stream(stage);
}

RunCounts Runner::replay(Script& script) {
  script.run_on(crew_);
  return {script.bytes_moved(), copied_, script.messages(), script.size()};
}

// Walks the plan and runs the tasks while they are made. Barriers before and after it keep it apart from accesses of
// neighbouring processes to this process's pieces.
RunCounts Runner::stream(size_t stage) {
  moved_ = 0;
  messages_ = 0;
  if (options_.transport) options_.transport->barrier();
  stream_.begin();
  try {
    walk(plan_, plan_.stages[stage], *this);
  } catch (...) {
    if (options_.transport) options_.transport->fail(std::current_exception());
    stream_.give_up();
    drop_scripts();  // after a failed allocation some arenas have moved
    clean_up();
    throw;
  }
  if (options_.transport) options_.transport->barrier();
  return {moved_, copied_, messages_, stream_.tasks()};
}

// Scripts point into the pieces of tensors. The user may have moved these since the last run.
void Runner::drop_stale_scripts() {
  bool moved = false;
  for (size_t t = 0; t < versions_.size(); ++t) {
    int64_t now = store_.pieces(static_cast<int>(t)).version();
    moved = moved || now != versions_[t];
    versions_[t] = now;
  }
  if (moved) drop_scripts();
}

void Runner::drop_scripts() {
  for (auto& script : scripts_) script = nullptr;
}

// Ends the stream's threads when every stage has a script: nothing is streamed any more.
void Runner::rest() {
  if (std::all_of(scripts_.begin(), scripts_.end(), [](const auto& s) { return s != nullptr; })) stream_.rest();
}

// Frees what a stage used. The arenas stay if scripts point into them. With a transport they always stay, as the stages
// have no scripts and run again from the walk.
void Runner::clean_up() {
  buffers_.clear();
  workspaces_.clear();
  staging_.clear();
  bool scripts = std::any_of(scripts_.begin(), scripts_.end(), [](const auto& s) { return s != nullptr; });
  if (!scripts && !options_.transport) arenas_.clear();
}

void Runner::begin(const StagePlan& stage) {
  stage_ = &stage;
  number_ = static_cast<size_t>(&stage - plan_.stages.data());
  buffers_.clear();
  buffers_.resize(stage.acquires.size());
  homes_.clear();
  homes_.resize(static_cast<size_t>(plan_.processors));
  blank_.assign(static_cast<size_t>(plan_.processors), false);
  last_leaf_.assign(static_cast<size_t>(plan_.processors), nullptr);
  batches_.assign(static_cast<size_t>(plan_.processors), {});
  gains_from_joining_ = leaves_[number_]->gains_from_joining();
  bool moved = arenas_.begin(stage, needs_, number_, [this](int64_t p) { return is_here(p); });
  if (moved) drop_scripts();  // they point into the old memory
  take_workspaces();
}

// A processor runs one leaf at a time, so it needs one set of workspaces.
void Runner::take_workspaces() {
  if (int64_t bytes = needs_.workspace_bytes[number_]; bytes > 0) {
    for (int64_t p : stage_->places(stage_->machine.levels())) {
      if (is_here(p)) workspaces_[p] = arenas_.of(p).take(bytes);
    }
  }
  staging_.clear();
  staged_.clear();
  for (const auto& [p, bytes] : needs_.staging_bytes[number_]) {
    if (!is_here(p)) continue;
    std::vector<Staging>& two = staging_[p];
    for (int i = 0; i < 2; ++i) two.push_back({arenas_.of(p).take(bytes), {}});
  }
}

void Runner::init(int tensor) {
  if (all_leaves_overwrite()) return;
  for (int64_t p = 0; p < plan_.processors; ++p) {
    if (!is_here(p) || !store_.has_piece(tensor, p)) continue;
    blank_[static_cast<size_t>(p)] = true;
    if (!first_leaf_may_overwrite()) clear_piece(p);
  }
}

// True if one leaf run computes each output element completely and overwrites it: the output needs no zeros.
bool Runner::all_leaves_overwrite() const { return stage_->makes_whole_output && leaves_[number_]->can_overwrite(); }

// True if the first leaf run on an output copy or piece may overwrite it instead of adding to zeros. It does so only if
// the run covers all of it; see first_leaf_overwrites.
bool Runner::first_leaf_may_overwrite() const { return stage_->adds_to_all && leaves_[number_]->can_overwrite(); }

// Whether this run overwrites the output: nothing has been written to it, and the run covers all of it. The output then
// counts as written. A blank output that the run covers only in part is zeroed.
bool Runner::first_leaf_overwrites(int64_t p, Slot& output, const std::vector<int64_t>& values) {
  int64_t home = output.in_place[0];
  if (!(home >= 0 ? blank_[static_cast<size_t>(home)] : output.is_blank)) return false;
  if (!stage_->bounds_at(p, stage_->leaf_is_fixed, values, intervals_)) return false;
  if (rect_of(stage_->access(leaf_of(*stage_->stage).accesses[0]), intervals_) != output.rects[0]) {
    clear_if_blank(output);
    return false;
  }
  if (home >= 0) blank_[static_cast<size_t>(home)] = false;
  output.is_blank = false;
  return true;
}

void Runner::clear_piece(int64_t p) {
  blank_[static_cast<size_t>(p)] = false;
  TaskPtr task = stream_.make([this, tensor = stage_->output, p] { store_.clear(tensor, p); });
  std::vector<TaskPtr> dependencies;
  homes_[static_cast<size_t>(p)].add_exclusive(task, dependencies);
  stream_.submit(task, dependencies);
}

void Runner::fill_memory(Slot& slot, int byte) {
  auto bytes = static_cast<size_t>(slot.rects[0].volume() * tensor(stage_->output).element_bytes);
  TaskPtr task = stream_.make([memory = slot.memory, byte, bytes] { std::memset(memory, byte, bytes); });
  std::vector<TaskPtr> dependencies;
  slot.resource.add_exclusive(task, dependencies);
  stream_.submit(task, dependencies);
}

void Runner::clear_if_blank(Slot& slot) {
  if (slot.is_blank) fill_memory(slot, 0);
  slot.is_blank = false;
  int64_t home = slot.in_place.empty() ? -1 : slot.in_place[0];
  if (home >= 0 && blank_[static_cast<size_t>(home)]) clear_piece(home);
}

// Pieces that no leaf wrote to become zero.
void Runner::end(const StagePlan&) {
  run_all_batches();
  for (int64_t p = 0; p < plan_.processors; ++p) {
    if (blank_[static_cast<size_t>(p)]) clear_piece(p);
  }
  scripts_[number_] = stream_.end();
  if (scripts_[number_]) scripts_[number_]->counted(moved_, messages_);
  clean_up();
}

SlotRing& Runner::buffers_at(int acquire, int64_t place) {
  auto& map = buffers_[static_cast<size_t>(acquire)];
  auto found = map.find(place);
  if (found != map.end()) return *found->second;
  const auto& needs = needs_.buffers[number_][static_cast<size_t>(acquire)];
  auto need = needs.find(place);
  BufferNeed size = need == needs.end() ? BufferNeed{} : need->second;
  return *map.emplace(place, std::make_unique<SlotRing>(size, arenas_.of(place))).first->second;
}

// Submits an empty task that runs after all earlier users of the resource and before all later ones. With a transport
// it is asynchronous: on a worker thread it would wait behind a leaf and delay the messages after it.
void Runner::submit_barrier(Resource& resource) {
  TaskPtr task =
      options_.transport ? stream_.make_asynchronous([](const auto& complete) { complete(); }) : stream_.make([] {});
  std::vector<TaskPtr> dependencies;
  resource.add_exclusive(task, dependencies);
  stream_.submit(task, dependencies);
}

void Runner::leaf(const LeafStep& step) {
  require_wanted();
  for (int64_t p : step.processors) {
    if (is_here(p)) leaf_on(p, *step.values);
  }
}

void Runner::leaf_on(int64_t p, const std::vector<int64_t>& values) {
  auto team = teams_.find(p);
  LeafArguments arguments{values, {}, nullptr, false, team == teams_.end() ? nullptr : team->second.get()};
  if (auto w = workspaces_.find(p); w != workspaces_.end()) arguments.scratch = w->second;
  for (int v = 0; v < stage_->space.size(); ++v) {
    if (stage_->machine_dimension[v] >= 0) arguments.values[v] = stage_->coordinate(p, stage_->machine_dimension[v]);
  }
  std::vector<Operand> operands;
  for (const LeafAccess& access : leaf_of(*stage_->stage).accesses) {
    int64_t place = stage_->machine.leader(p, stage_->acquires[access.acquire].acquire->place_levels);
    Slot& slot = buffers_at(access.acquire, place).current();
    operands.push_back({&slot, rect_for(p, access, slot, arguments.values)});
    if (options_.checked) check_in_reach(p, access, operands.back(), arguments.values);
    arguments.operands.push_back(moved_by(slot.views[operands.back().rect], stage_->access(access).offsets));
  }
  arguments.overwrite = all_leaves_overwrite() || first_leaf_overwrites(p, *operands[0].slot, arguments.values);
  run_or_batch(p, std::move(arguments), operands);
}

// Which of the access's rectangles in the slot holds what the leaf touches.
size_t Runner::rect_for(int64_t p, const LeafAccess& access, const Slot& slot, const std::vector<int64_t>& values) {
  if (slot.access_rects.empty()) return 0;  // the place has acquired nothing
  const AccessRects& rects = slot.access_rects[static_cast<size_t>(access.rect)];
  bool one = std::all_of(rects.counts.begin(), rects.counts.end(), [](int64_t count) { return count == 1; });
  if (one || !stage_->bounds_at(p, stage_->leaf_is_fixed, values, intervals_)) return rects.first;
  return rect_at(rects, slot.rects, rect_of(stage_->access(access), intervals_).lo);
}

// Adds a run to the processor's batch. The batch is submitted at once if the run reads a slot's own memory, which the
// next fetch overwrites; operands that are used in place do not change.
void Runner::run_or_batch(int64_t p, LeafArguments arguments, const std::vector<Operand>& operands) {
  std::set<Slot*> used{operands[0].slot};
  for (const Operand& o : operands) {
    if (o.slot->in_place[o.rect] < 0) used.insert(o.slot);
  }
  bool waits = gains_from_joining_ && used.size() == 1;
  LeafBatch& batch = batches_[p];
  if (!waits || arguments.overwrite || batch.runs.size() == kMaxBatch) run_batch(p);
  batch.runs.push_back(std::move(arguments));
  batch.output = operands[0].slot;
  batch.slots = std::move(used);
  if (!waits) run_batch(p);
}

void Runner::run_batch(int64_t p) {
  if (batches_[p].runs.empty()) return;
  LeafBatch batch = std::exchange(batches_[p], {});
  TaskPtr task = stream_.make([this, kernel = leaves_[number_].get(), runs = std::move(batch.runs)] {
    require_wanted();
    if (skips_leaves()) return;
    Computing computing(options_.transport);
    kernel->run_joined(runs);
    if (progress_) progress_->advance(static_cast<int64_t>(runs.size()));
  });
  std::vector<TaskPtr> dependencies;
  if (last_leaf_[p]) dependencies.push_back(last_leaf_[p]);
  last_leaf_[p] = task;
  for (Slot* s : batch.slots) s->resource.add_shared(task, dependencies);
  if (int64_t home = batch.output->in_place[0]; home >= 0) homes_[home].add_shared(task, dependencies);
  stream_.submit(task, dependencies);
}

bool Runner::skips_leaves() {
  if (!progress_ || !progress_->is_cancelled()) return false;
  skipped_leaves_ = true;
  return true;
}

void Runner::run_all_batches() {
  if (!gains_from_joining_) return;
  for (int64_t p = 0; p < plan_.processors; ++p) run_batch(p);
}

// Throws if a leaf touches anything that its processor has not acquired.
void Runner::check_in_reach(int64_t p, const LeafAccess& access, const Operand& operand,
                            const std::vector<int64_t>& values) {
  if (!stage_->bounds_at(p, stage_->leaf_is_fixed, values, intervals_)) return;
  Rect need = rect_of(stage_->access(access), intervals_);
  if (operand.rect < operand.slot->rects.size() && operand.slot->rects[operand.rect].contains(need)) return;
  throw InternalError(fmt::format("processor {} touches {}{} without having acquired it",
                                  stage_->machine.processor_name(p),
                                  tensor(stage_->acquires[access.acquire].tensor).name, to_string(need)));
}

}  // namespace distal::core
