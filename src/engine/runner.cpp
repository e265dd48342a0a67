#include "engine/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace distal::core {

namespace {

// Leaves that run together at most: enough for a long sum of short ones.
constexpr size_t kMostTogether = 16;

// A worker for every processor as long as there are threads enough.
int workers_for(const RunnerOptions& options) {
  return static_cast<int>(std::clamp<int64_t>(options.processors_here, 1, options.threads));
}

// Tells the transport that a leaf runs.
class Computing {
 public:
  explicit Computing(Transport* transport) : transport_(transport) {
    if (transport_) transport_->computes(true);
  }
  ~Computing() {
    if (transport_) transport_->computes(false);
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

Runner::Runner(const Plan& plan, const MemoryNeeds& needs, std::vector<std::unique_ptr<LeafKernel>> leaves,
               Allocator& allocator, TensorStore& store, RunnerOptions options)
    : plan_(plan),
      needs_(needs),
      leaves_(std::move(leaves)),
      store_(store),
      options_(options),
      arenas_(allocator),
      scripts_(plan.stages.size()),
      versions_(plan.tensors.size(), 0),
      crew_(workers_for(options)),
      stream_(crew_.size(), tasks_of(options), on_failure(options)) {
  // The threads that are more than processors help inside of these.
  int64_t size = options.threads / std::max<int64_t>(1, options.processors_here);
  for (int64_t p = 0; p < plan.processors && size > 1; ++p) {
    if (is_here(p)) teams_[p] = std::make_unique<Team>(static_cast<int>(size));
  }
}

RunCounts Runner::run() {
  forget_what_moved();
  RunCounts sum;
  for (size_t s = 0; s < plan_.stages.size(); ++s) sum += run_once(s);
  rest();
  return sum;
}

RunCounts Runner::run_stage(size_t stage) {
  forget_what_moved();
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

// Walks the plan and runs the tasks while they are made. Before and after it, others may touch the pieces that a
// process has.
RunCounts Runner::stream(size_t stage) {
  moved_ = 0;
  messages_ = 0;
  if (options_.transport) options_.transport->meet();
  stream_.begin();
  try {
    walk(plan_, plan_.stages[stage], *this);
  } catch (...) {
    if (options_.transport) options_.transport->fail(std::current_exception());
    stream_.give_up();
    forget_scripts();  // if it is memory that failed, it has been moved for some of the processors already
    clean_up();
    throw;
  }
  if (options_.transport) options_.transport->meet();
  return {moved_, copied_, messages_, stream_.tasks()};
}

// Scripts point into the pieces of tensors, which the user may have put elsewhere since.
void Runner::forget_what_moved() {
  bool moved = false;
  for (size_t t = 0; t < versions_.size(); ++t) {
    int64_t now = store_.pieces(static_cast<int>(t)).version();
    moved = moved || now != versions_[t];
    versions_[t] = now;
  }
  if (moved) forget_scripts();
}

void Runner::forget_scripts() {
  for (auto& script : scripts_) script = nullptr;
}

// Nothing will be streamed any more once everything is written down.
void Runner::rest() {
  if (std::all_of(scripts_.begin(), scripts_.end(), [](const auto& s) { return s != nullptr; })) stream_.rest();
}

// Memory is kept for scripts, and where there are none as messages cannot be written down.
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
  waiting_.assign(static_cast<size_t>(plan_.processors), {});
  gains_together_ = leaves_[number_]->gains_together();
  bool moved = arenas_.begin(stage, needs_, number_, [this](int64_t p) { return is_here(p); });
  if (moved) forget_scripts();  // they point into the memory that was too small
  take_workspaces();
}

// A processor runs one leaf at a time, so one set of workspaces is enough for it.
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
  if (begins_in_leaf()) return;
  for (int64_t p = 0; p < plan_.processors; ++p) {
    if (!is_here(p) || !store_.has_piece(tensor, p)) continue;
    blank_[static_cast<size_t>(p)] = true;
    if (!may_begin_in_leaf()) clear_piece(p);
  }
}

// Where leaves make the whole output and need no zeros to add to, none are written.
bool Runner::begins_in_leaf() const { return stage_->makes_whole_output && leaves_[number_]->can_begin(); }

// Where only the first of several runs finds nothing there, it can begin a copy that it makes all of.
bool Runner::may_begin_in_leaf() const { return stage_->adds_to_all && leaves_[number_]->can_begin(); }

bool Runner::begins(int64_t p, Slot& output, const std::vector<int64_t>& values) {
  int64_t home = output.in_place[0];
  if (!(home >= 0 ? blank_[static_cast<size_t>(home)] : output.is_blank)) return false;
  if (!stage_->bounds_at(p, stage_->leaf_is_fixed, values, intervals_)) return false;
  if (rect_of(leaf_of(*stage_->stage).accesses[0].indices, intervals_) != output.rects[0]) {
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

// What nobody computed is zero.
void Runner::end(const StagePlan&) {
  run_all_waiting();
  for (int64_t p = 0; p < plan_.processors; ++p) {
    if (blank_[static_cast<size_t>(p)]) clear_piece(p);
  }
  scripts_[number_] = stream_.end();
  if (scripts_[number_]) scripts_[number_]->counted(moved_, messages_);
  clean_up();
}

PlaceBuffers& Runner::buffers_at(int acquire, int64_t place) {
  auto& map = buffers_[static_cast<size_t>(acquire)];
  auto found = map.find(place);
  if (found != map.end()) return *found->second;
  const auto& needs = needs_.buffers[number_][static_cast<size_t>(acquire)];
  auto need = needs.find(place);
  BufferNeed size = need == needs.end() ? BufferNeed{} : need->second;
  return *map.emplace(place, std::make_unique<PlaceBuffers>(size, arenas_.of(place))).first->second;
}

// Waits for everyone before, and lets everyone behind wait for that. It takes no thread where there are messages: one
// behind it would wait for a leaf.
void Runner::submit_nothing(Resource& resource) {
  TaskPtr task =
      options_.transport ? stream_.make_asynchronous([](const auto& complete) { complete(); }) : stream_.make([] {});
  std::vector<TaskPtr> dependencies;
  resource.add_exclusive(task, dependencies);
  stream_.submit(task, dependencies);
}

void Runner::leaf(const LeafStep& step) {
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
    arguments.operands.push_back(slot.views[operands.back().rect]);
  }
  arguments.begin = begins_in_leaf() || begins(p, *operands[0].slot, arguments.values);
  run_or_wait(p, std::move(arguments), operands);
}

// The rectangle that has what a leaf touches, among those of its access.
size_t Runner::rect_for(int64_t p, const LeafAccess& access, const Slot& slot, const std::vector<int64_t>& values) {
  if (slot.regions.empty()) return 0;  // the place has acquired nothing
  const Region& region = slot.regions[static_cast<size_t>(access.rect)];
  bool one = std::all_of(region.runs.begin(), region.runs.end(), [](int64_t runs) { return runs == 1; });
  if (one || !stage_->bounds_at(p, stage_->leaf_is_fixed, values, intervals_)) return region.first;
  return rect_at(region, slot.rects, rect_of(access.indices, intervals_).lo);
}

// What a leaf reads where it lies stays as it is, so the leaf may run later; what is fetched into a slot is
// overwritten.
void Runner::run_or_wait(int64_t p, LeafArguments arguments, const std::vector<Operand>& operands) {
  std::set<Slot*> used{operands[0].slot};
  for (const Operand& o : operands) {
    if (o.slot->in_place[o.rect] < 0) used.insert(o.slot);
  }
  bool waits = gains_together_ && used.size() == 1;
  Waiting& waiting = waiting_[p];
  if (!waits || arguments.begin || waiting.runs.size() == kMostTogether) run_waiting(p);
  waiting.runs.push_back(std::move(arguments));
  waiting.output = operands[0].slot;
  waiting.slots = std::move(used);
  if (!waits) run_waiting(p);
}

void Runner::run_waiting(int64_t p) {
  if (waiting_[p].runs.empty()) return;
  Waiting waiting = std::exchange(waiting_[p], {});
  TaskPtr task =
      stream_.make([transport = options_.transport, kernel = leaves_[number_].get(), runs = std::move(waiting.runs)] {
        Computing while_it_runs(transport);
        kernel->run_together(runs);
      });
  std::vector<TaskPtr> dependencies;
  if (last_leaf_[p]) dependencies.push_back(last_leaf_[p]);
  last_leaf_[p] = task;
  for (Slot* s : waiting.slots) s->resource.add_shared(task, dependencies);
  if (int64_t home = waiting.output->in_place[0]; home >= 0) homes_[home].add_shared(task, dependencies);
  stream_.submit(task, dependencies);
}

void Runner::run_all_waiting() {
  if (!gains_together_) return;
  for (int64_t p = 0; p < plan_.processors; ++p) run_waiting(p);
}

// With memory of its own a processor may touch only what it acquired.
void Runner::check_in_reach(int64_t p, const LeafAccess& access, const Operand& operand,
                            const std::vector<int64_t>& values) {
  if (!stage_->bounds_at(p, stage_->leaf_is_fixed, values, intervals_)) return;
  Rect need = rect_of(access.indices, intervals_);
  if (operand.rect < operand.slot->rects.size() && operand.slot->rects[operand.rect].contains(need)) return;
  throw InternalError(fmt::format("processor {} touches {}{} without having acquired it",
                                  stage_->machine.processor_name(p),
                                  tensor(stage_->acquires[access.acquire].tensor).name, to_string(need)));
}

}  // namespace distal::core
