#include "engine/threads/engine.h"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>

#include "engine/threads/buffers.h"
#include "engine/threads/script.h"
#include "engine/threads/task_stream.h"
#include "plan/walk.h"

namespace distal::core {

namespace {

// One copy into an acquired rectangle.
struct PieceCopy {
  View from;
  size_t rect;  // of the slot
  Rect part;
};

int64_t threads_of(const ThreadsOptions& options) {
  if (options.threads > 0) return options.threads;
  return std::max<int64_t>(1, std::thread::hardware_concurrency());
}

// A worker for every processor as long as there are threads enough.
int workers_for(int64_t threads, int64_t processors) { return static_cast<int>(std::min(threads, processors)); }

// The other threads help inside of processors.
std::vector<std::unique_ptr<Team>> teams_for(int64_t threads, int64_t processors) {
  std::vector<std::unique_ptr<Team>> out;
  int64_t size = threads / processors;
  if (size <= 1) return out;
  for (int64_t p = 0; p < processors; ++p) out.push_back(std::make_unique<Team>(static_cast<int>(size)));
  return out;
}

}  // namespace

class ThreadsEngine::Runner : public PlanVisitor {
 public:
  Runner(const Plan& plan, const MemoryNeeds& needs, std::vector<std::unique_ptr<LeafKernel>> leaves,
         Allocator& allocator, TensorStore& store, ThreadsOptions options)
      : plan_(plan),
        needs_(needs),
        leaves_(std::move(leaves)),
        store_(store),
        options_(options),
        arenas_(allocator),
        scripts_(plan.stages.size()),
        versions_(plan.tensors.size(), 0),
        teams_(teams_for(threads_of(options), plan.processors)),
        crew_(workers_for(threads_of(options), plan.processors)),
        stream_(crew_.size()) {}

  RunCounts run() {
    forget_what_moved();
    RunCounts sum;
    for (size_t s = 0; s < plan_.stages.size(); ++s) sum += run_once(s);
    rest();
    return sum;
  }

  RunCounts run_stage(size_t stage) {
    forget_what_moved();
    RunCounts counts = run_once(stage);
    rest();
    return counts;
  }

  void begin(const StagePlan& stage) override {
    stage_ = &stage;
    number_ = static_cast<size_t>(&stage - plan_.stages.data());
    buffers_.clear();
    buffers_.resize(stage.acquires.size());
    homes_.clear();
    homes_.resize(static_cast<size_t>(plan_.processors));
    last_leaf_.assign(static_cast<size_t>(plan_.processors), nullptr);
    if (arenas_.begin(stage, needs_, number_)) forget_scripts();  // they point into the memory that was too small
    take_workspaces(needs_.workspace_bytes[number_]);
  }

  void init(int tensor) override {
    if (begins_in_leaf()) return;
    for (int64_t p = 0; p < plan_.processors; ++p) {
      if (!store_.has_piece(tensor, p)) continue;
      TaskPtr task = stream_.make([this, tensor, p] { store_.clear(tensor, p); });
      std::vector<TaskPtr> dependencies;
      homes_[p].add_exclusive(task, dependencies);
      stream_.submit(task, dependencies);
    }
  }

  // Where leaves make the whole output and need no zeros to add to, none are written.
  bool begins_in_leaf() const { return stage_->makes_whole_output && leaves_[number_]->can_begin(); }

  void fetch(const FetchStep& step) override {
    // Neighbours serve what they had before this step, so all sources are looked up before anyone moves on.
    std::vector<std::vector<Slot*>> sources;
    for (const Fetch& f : step.fetches) sources.push_back(source_slots(step, f));
    for (size_t i = 0; i < step.fetches.size(); ++i) fetch_one(step, step.fetches[i], sources[i]);
  }

  void leaf(const LeafStep& step) override {
    for (int64_t p : step.processors) leaf_on(p, *step.values);
  }

  void release(const ReleaseStep& step) override {
    std::set<std::pair<int64_t, int64_t>> pairs;
    for (const Transfer& t : step.transfers) {
      if (moves(*stage_, step, t)) {
        moved_ += t.rect.volume() * plan_.tensors[step.tensor].element_bytes;
        pairs.insert({t.source, t.destination});
      }
      transfer(step, t);
    }
    messages_ += static_cast<int64_t>(pairs.size());
  }

  void end(const StagePlan&) override {
    scripts_[number_] = stream_.end();
    if (scripts_[number_]) scripts_[number_]->counted(moved_, messages_);
    clean_up();
  }

 private:
  ElementType type() const { return store_.type(); }
  const TensorPlan& tensor(int index) const { return plan_.tensors[index]; }

  RunCounts run_once(size_t stage) {
    copied_ = 0;
    return scripts_[stage] ? replay(*scripts_[stage]) : stream(stage);
  }

  RunCounts replay(Script& script) {
    script.run_on(crew_);
    return {script.bytes_moved(), copied_, script.messages(), script.size()};
  }

  // Walks the plan and runs the tasks while they are made.
  RunCounts stream(size_t stage) {
    moved_ = 0;
    messages_ = 0;
    stream_.begin();
    try {
      walk(plan_, plan_.stages[stage], *this);
    } catch (...) {
      stream_.give_up();
      forget_scripts();  // if it is memory that failed, it has been moved for some of the processors already
      clean_up();
      throw;
    }
    return {moved_, copied_, messages_, stream_.tasks()};
  }

  // Scripts point into the pieces of tensors, which the user may have put elsewhere since.
  void forget_what_moved() {
    bool moved = false;
    for (size_t t = 0; t < versions_.size(); ++t) {
      int64_t now = store_.pieces(static_cast<int>(t)).version();
      moved = moved || now != versions_[t];
      versions_[t] = now;
    }
    if (moved) forget_scripts();
  }

  void forget_scripts() {
    for (auto& script : scripts_) script = nullptr;
  }

  // Nothing will be streamed any more once everything is written down.
  void rest() {
    if (std::all_of(scripts_.begin(), scripts_.end(), [](const auto& s) { return s != nullptr; })) stream_.rest();
  }

  // Memory is kept for scripts alone.
  void clean_up() {
    buffers_.clear();
    workspaces_.clear();
    if (std::none_of(scripts_.begin(), scripts_.end(), [](const auto& s) { return s != nullptr; })) arenas_.clear();
  }

  // A processor runs one leaf at a time, so one set of workspaces is enough for it.
  void take_workspaces(int64_t bytes) {
    if (bytes == 0) return;
    for (int64_t p : stage_->places(stage_->machine.levels())) workspaces_[p] = arenas_.of(p).take(bytes);
  }

  PlaceBuffers& buffers_at(int acquire, int64_t place) {
    auto& map = buffers_[acquire];
    auto found = map.find(place);
    if (found != map.end()) return *found->second;
    const auto& needs = needs_.buffers[number_][acquire];
    auto need = needs.find(place);
    BufferNeed size = need == needs.end() ? BufferNeed{} : need->second;
    return *map.emplace(place, std::make_unique<PlaceBuffers>(size, arenas_.of(place))).first->second;
  }

  // Where each piece comes from: a slot of somebody's, or null for a piece at home.
  std::vector<Slot*> source_slots(const FetchStep& step, const Fetch& f) {
    std::vector<Slot*> out;
    for (const FetchPiece& p : f.pieces) {
      bool home = p.from == FetchPiece::From::Home;
      out.push_back(home ? nullptr : &buffers_at(step.acquire->acquire->id, p.source).current());
    }
    return out;
  }

  void count(const FetchStep& step, const Fetch& f) {
    std::set<int64_t> senders;
    for (const FetchPiece& p : f.pieces) {
      if (!moves(*stage_, step.acquire->acquire->place_levels, p.source, f.place)) continue;
      moved_ += p.rect.volume() * tensor(step.acquire->tensor).element_bytes;
      senders.insert(p.source);
    }
    messages_ += static_cast<int64_t>(senders.size());
  }

  void fetch_one(const FetchStep& step, const Fetch& f, const std::vector<Slot*>& sources) {
    const AcquirePlan& a = *step.acquire;
    count(step, f);
    Slot& slot = buffers_at(a.acquire->id, f.place).advance();
    lay_out(a, f, slot);
    if (a.acquire->privilege == Privilege::Read) {
      fill_slot(a, f, slot, sources);
    } else if (slot.in_place[0] < 0 && !begins_in_leaf()) {
      clear_slot(a, slot);
    }
  }

  // Decides for every rectangle whether it is used where it lies, and gives the others room in the slot.
  void lay_out(const AcquirePlan& a, const Fetch& f, Slot& slot) {
    slot.rects = f.rects;
    slot.views.assign(f.rects.size(), View{});
    slot.in_place.assign(f.rects.size(), -1);
    int64_t used = 0;
    for (size_t i = 0; i < f.rects.size(); ++i) {
      auto same = std::find(f.rects.begin(), f.rects.begin() + static_cast<std::ptrdiff_t>(i), f.rects[i]);
      size_t first = static_cast<size_t>(same - f.rects.begin());
      if (first < i) {
        slot.views[i] = slot.views[first];
        slot.in_place[i] = slot.in_place[first];
        continue;
      }
      slot.in_place[i] = view_of(plan_, a, f, i, reach_of(options_));
      if (slot.in_place[i] >= 0) {
        slot.views[i] = store_.view(a.tensor, slot.in_place[i], f.rects[i]);
      } else {
        slot.memory = buffers_at(a.acquire->id, f.place).memory_of(slot);
        slot.views[i] = dense_view(slot.memory + used, f.rects[i], tensor(a.tensor).order);
        used += f.rects[i].volume() * tensor(a.tensor).element_bytes;
      }
    }
  }

  void clear_slot(const AcquirePlan& a, Slot& slot) {
    auto bytes = static_cast<size_t>(slot.rects[0].volume() * tensor(a.tensor).element_bytes);
    TaskPtr task = stream_.make([memory = slot.memory, bytes] { std::memset(memory, 0, bytes); });
    std::vector<TaskPtr> dependencies;
    slot.resource.add_exclusive(task, dependencies);
    stream_.submit(task, dependencies);
  }

  void fill_slot(const AcquirePlan& a, const Fetch& f, Slot& slot, const std::vector<Slot*>& sources) {
    std::vector<PieceCopy> copies;
    std::set<Slot*> read;
    for (size_t i = 0; i < slot.rects.size(); ++i) {
      bool repeated = std::find(f.rects.begin(), f.rects.begin() + static_cast<std::ptrdiff_t>(i), f.rects[i]) !=
                      f.rects.begin() + static_cast<std::ptrdiff_t>(i);
      if (slot.in_place[i] >= 0 || repeated) continue;
      for (size_t p = 0; p < f.pieces.size(); ++p) {
        if (!overlap(f.pieces[p].rect, slot.rects[i])) continue;
        Rect part = intersect(f.pieces[p].rect, slot.rects[i]);
        if (!sources[p]) {
          copies.push_back({store_.view(a.tensor, f.pieces[p].source, part), i, part});
        } else {
          copy_from_slot(*sources[p], i, part, copies);
          read.insert(sources[p]);
        }
      }
    }
    bool anything =
        !copies.empty() || std::any_of(slot.in_place.begin(), slot.in_place.end(), [](int64_t p) { return p < 0; });
    if (!anything) return;
    std::string who = options_.own_memory ? stage_->machine.processor_name(f.place) : "";
    TaskPtr task =
        stream_.make([this, who, t = a.tensor, copies = std::move(copies), views = slot.views, rects = slot.rects,
                      in_place = slot.in_place] { carry_out(who, t, copies, views, rects, in_place); });
    std::vector<TaskPtr> dependencies;
    slot.resource.add_exclusive(task, dependencies);
    for (Slot* s : read) s->resource.add_shared(task, dependencies);
    stream_.submit(task, dependencies);
  }

  static void copy_from_slot(const Slot& from, size_t rect, const Rect& part, std::vector<PieceCopy>& copies) {
    std::vector<Rect> left{part};
    for (size_t j = 0; j < from.rects.size(); ++j) {
      std::vector<Rect> next;
      for (const Rect& r : left) {
        if (overlap(r, from.rects[j])) copies.push_back({from.views[j], rect, intersect(r, from.rects[j])});
        subtract(r, from.rects[j], next);
      }
      left = std::move(next);
    }
  }

  void carry_out(const std::string& who, int t, const std::vector<PieceCopy>& copies, const std::vector<View>& views,
                 const std::vector<Rect>& rects, const std::vector<int64_t>& in_place) {
    absl::InlinedVector<int64_t, 4> filled(rects.size(), 0);
    for (const PieceCopy& c : copies) {
      copy_rect(type(), views[c.rect], c.from, c.part);
      filled[c.rect] += c.part.volume();
      copied_ += c.part.volume() * tensor(t).element_bytes;
    }
    if (!options_.own_memory) return;
    for (size_t i = 0; i < rects.size(); ++i) {
      bool repeated = std::find(rects.begin(), rects.begin() + static_cast<std::ptrdiff_t>(i), rects[i]) !=
                      rects.begin() + static_cast<std::ptrdiff_t>(i);
      if (in_place[i] >= 0 || repeated || filled[i] == rects[i].volume()) continue;
      throw InternalError(fmt::format("processor {} was given {} of the {} elements of {}{}", who, filled[i],
                                      rects[i].volume(), tensor(t).name, to_string(rects[i])));
    }
  }

  void leaf_on(int64_t p, const std::vector<int64_t>& values) {
    LeafArguments arguments{values, {}, nullptr, begins_in_leaf(), teams_.empty() ? nullptr : teams_[p].get()};
    if (auto w = workspaces_.find(p); w != workspaces_.end()) arguments.scratch = w->second;
    for (int v = 0; v < stage_->space.size(); ++v) {
      if (stage_->machine_dimension[v] >= 0) arguments.values[v] = stage_->coordinate(p, stage_->machine_dimension[v]);
    }
    std::vector<Slot*> slots;
    const Leaf& leaf = leaf_of(*stage_->stage);
    for (const LeafAccess& access : leaf.accesses) {
      int64_t place = stage_->machine.leader(p, stage_->acquires[access.acquire].acquire->place_levels);
      Slot& slot = buffers_at(access.acquire, place).current();
      if (options_.own_memory) check_in_reach(p, access, slot, arguments.values);
      arguments.operands.push_back(slot.views[access.rect]);
      slots.push_back(&slot);
    }
    TaskPtr task =
        stream_.make([kernel = leaves_[number_].get(), arguments = std::move(arguments)] { kernel->run(arguments); });
    std::vector<TaskPtr> dependencies;
    if (last_leaf_[p]) dependencies.push_back(last_leaf_[p]);
    last_leaf_[p] = task;
    std::set<Slot*> used(slots.begin(), slots.end());
    for (Slot* s : used) s->resource.add_shared(task, dependencies);
    if (slots[0]->in_place[0] >= 0) homes_[slots[0]->in_place[0]].add_shared(task, dependencies);
    stream_.submit(task, dependencies);
  }

  // With memory of its own a processor may touch only what it acquired.
  void check_in_reach(int64_t p, const LeafAccess& access, const Slot& slot, const std::vector<int64_t>& values) {
    if (!stage_->bounds_at(p, stage_->leaf_is_fixed, values, intervals_)) return;
    Rect need = rect_of(access.indices, intervals_);
    if (!slot.rects.empty() && slot.rects[access.rect].contains(need)) return;
    throw InternalError(fmt::format("processor {} touches {}{} without having acquired it",
                                    stage_->machine.processor_name(p),
                                    tensor(stage_->acquires[access.acquire].tensor).name, to_string(need)));
  }

  void transfer(const ReleaseStep& step, const Transfer& t) {
    using Kind = Transfer::Kind;
    Slot* from = t.kind == Kind::Replicate ? nullptr : &buffers_at(step.acquire->acquire->id, t.source).current();
    Slot* into = nullptr;
    if (t.kind == Kind::CombinePartial) into = &buffers_at(step.acquire->acquire->id, t.destination).current();
    if (t.kind == Kind::CombineParent) into = &buffers_at(*step.acquire->acquire->parent, t.destination).current();

    View source = from ? from->views[0] : store_.view(step.tensor, t.source, t.rect);
    View target = into ? into->views[0] : store_.view(step.tensor, t.destination, t.rect);
    bool adds = t.kind != Kind::WriteHome && t.kind != Kind::Replicate;
    int64_t bytes = t.rect.volume() * tensor(step.tensor).element_bytes;
    TaskPtr task = stream_.make([this, source, target, rect = t.rect, adds, bytes] {
      adds ? add_rect(type(), target, source, rect) : copy_rect(type(), target, source, rect);
      copied_ += bytes;
    });
    std::vector<TaskPtr> dependencies;
    // All that was written to the source before is to travel, so the source is taken whole too.
    (from ? from->resource : homes_[t.source]).add_exclusive(task, dependencies);
    // A copy that lies in somebody's piece is ordered with everyone else who uses that piece.
    int64_t home = into ? into->in_place[0] : t.destination;
    if (into) into->resource.add_exclusive(task, dependencies);
    if (home >= 0) homes_[home].add_exclusive(task, dependencies);
    stream_.submit(task, dependencies);
  }

  const Plan& plan_;
  const MemoryNeeds& needs_;
  std::vector<std::unique_ptr<LeafKernel>> leaves_;
  TensorStore& store_;
  ThreadsOptions options_;

  const StagePlan* stage_ = nullptr;
  size_t number_ = 0;
  std::vector<std::unordered_map<int64_t, std::unique_ptr<PlaceBuffers>>> buffers_;  // [acquire][place]
  std::unordered_map<int64_t, std::byte*> workspaces_;                               // by processor
  std::vector<Resource> homes_;                                                      // the output's piece, by processor
  std::vector<TaskPtr> last_leaf_;
  std::vector<Interval<int64_t>> intervals_;
  int64_t moved_ = 0;
  int64_t messages_ = 0;
  std::atomic<int64_t> copied_{0};

  Arenas arenas_;
  std::vector<std::unique_ptr<Script>> scripts_;  // by stage; those that can be replayed
  std::vector<int64_t> versions_;                 // of the pieces that the scripts point into
  // Last: these threads end before what they use does.
  std::vector<std::unique_ptr<Team>> teams_;  // by processor; none where there is no thread left for them
  Team crew_;                                 // the workers of a replay
  TaskStream stream_;
};

RunCounts& RunCounts::operator+=(const RunCounts& other) {
  bytes_moved += other.bytes_moved;
  bytes_copied += other.bytes_copied;
  messages += other.messages;
  tasks += other.tasks;
  return *this;
}

ThreadsEngine::ThreadsEngine(const Plan& plan, const MemoryNeeds& needs,
                             std::vector<std::unique_ptr<LeafKernel>> leaves, Allocator& allocator, TensorStore& store,
                             ThreadsOptions options)
    : runner_(std::make_unique<Runner>(plan, needs, std::move(leaves), allocator, store, options)) {}

ThreadsEngine::~ThreadsEngine() = default;

RunCounts ThreadsEngine::run() { return runner_->run(); }

RunCounts ThreadsEngine::run_stage(size_t stage) { return runner_->run_stage(stage); }

Reach reach_of(const ThreadsOptions& options) { return options.own_memory ? Reach::Own : Reach::All; }

}  // namespace distal::core
