#include "plan/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "plan/workspace.h"

namespace distal::core {

namespace {

using RectPointers = std::span<const Rect*>;

bool are_disjoint_in_pairs(RectPointers sorted, size_t along) {
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (size_t j = i + 1; j < sorted.size() && sorted[j]->lo[along] < sorted[i]->hi[along]; ++j) {
      if (overlap(*sorted[i], *sorted[j])) return false;
    }
  }
  return true;
}

// Splits the rectangles into groups along one dimension after the other, wherever no rectangle crosses the split. When
// no dimension splits a group any more, compares its rectangles in pairs. They are few then, because the pieces of a
// tensor lie in rows and columns. `uncut` counts the dimensions before `along` that did not split the group.
bool are_disjoint_from(RectPointers rects, size_t along, size_t uncut) {
  if (rects.size() < 2) return true;
  std::sort(rects.begin(), rects.end(), [&](const Rect* a, const Rect* b) { return a->lo[along] < b->lo[along]; });
  size_t dimensions = rects[0]->dimensions();
  if (uncut == dimensions) return are_disjoint_in_pairs(rects, along);
  size_t begin = 0;
  int64_t reach = rects[0]->hi[along];
  for (size_t i = 1; i <= rects.size(); ++i) {
    if (i < rects.size() && rects[i]->lo[along] < reach) {
      reach = std::max(reach, rects[i]->hi[along]);
      continue;
    }
    bool whole = i - begin == rects.size();
    if (!are_disjoint_from(rects.subspan(begin, i - begin), (along + 1) % dimensions, whole ? uncut + 1 : 0)) {
      return false;
    }
    begin = i;
    if (i < rects.size()) reach = rects[i]->hi[along];
  }
  return true;
}

// Whether no element lies in two of the rectangles.
bool are_disjoint(std::vector<const Rect*> rects) {
  if (rects.size() < 2) return true;
  if (rects[0]->dimensions() == 0) return false;
  std::erase_if(rects, [](const Rect* r) { return r->empty(); });
  return are_disjoint_from(rects, 0, 0);
}

class Verifier : public PlanVisitor {
 public:
  Verifier(const Plan& plan, const MemoryNeeds& needs, const MemoryCap& cap) : plan_(plan), needs_(needs), cap_(cap) {}

  void begin(const StagePlan& stage) override {
    stage_ = &stage;
    held_.assign(stage.acquires.size(), {});
    before_.assign(stage.acquires.size(), {});
    in_place_.assign(stage.acquires.size(), {});
    access_rects_.assign(stage.acquires.size(), {});
    written_ = 0;
    replicas_are_stale_ = false;
    check_memory();
  }

  void fetch(const FetchStep& step) override {
    const AcquirePlan& a = *step.acquire;
    int id = a.acquire->id;
    // Neighbours are sources of what they had before this step, even if they acquire something else now.
    before_[id] = held_[id];
    std::map<int64_t, int64_t> waits;
    for (const Fetch& f : step.fetches) {
      check_views(a, f);
      check_buffer(a, f);
      if (a.acquire->privilege == Privilege::Read) {
        check_cover(a, f);
        for (const FetchPiece& p : f.pieces) {
          check_source(a, f, p);
          if (p.from == FetchPiece::From::Neighbour) note_wait(id, f, p, step, waits);
        }
      }
      held_[id][f.place] = f.rects;
      access_rects_[id][f.place] = f.access_rects;
      in_place_[id][f.place] = f.views[0];
    }
    check_cycles(waits);
  }

  void release(const ReleaseStep& step) override {
    sent_.clear();
    for (const Transfer& t : step.transfers) {
      check_transfer(step, t);
      if (t.kind != Transfer::Kind::Replicate) sent_[t.source].push_back(&t.rect);
    }
    if (!step.acquire) return check_replicas_of_all(step);
    check_all_sent(step);
    int id = step.acquire->acquire->id;
    if (step.acquire->acquire->privilege == Privilege::Write) {
      check_replicas_of_written(step);
      for (int64_t p : step.places) written_ += held_[id][p].empty() ? 0 : held_[id][p][0].volume();
    } else if (!step.acquire->acquire->parent) {  // an inner partial goes home with its parent's copy
      replicas_are_stale_ = true;
    }
    for (int64_t p : step.places) held_[id].erase(p);
  }

  void leaf(const LeafStep& step) override {
    for (int64_t p : step.processors) {
      if (!stage_->bounds_at(p, stage_->leaf_is_fixed, *step.values, intervals_)) continue;
      for (const LeafAccess& access : leaf_of(*stage_->stage).accesses) {
        const AcquirePlan& a = stage_->acquires[access.acquire];
        int64_t place = stage_->machine.leader(p, a.acquire->place_levels);
        auto held = held_[access.acquire].find(place);
        Rect need = rect_of(stage_->access(access), intervals_);
        if (held == held_[access.acquire].end() || !is_in_one_rect(access, place, held->second, need)) {
          fail("processor {} touches {}{} without having acquired it", name(p), tensor(a.tensor).name, to_string(need));
        }
      }
    }
  }

  void end(const StagePlan& stage) override {
    const Acquire& output = *stage.acquires[0].acquire;
    int64_t elements = output_elements(stage);
    for (int d : stage.everywhere) elements *= stage.machine.extents[d];
    if (output.privilege == Privilege::Write && written_ != elements) {
      fail("{} of the {} elements of {} are written", written_, elements, tensor(stage.output).name);
    }
    for (size_t id = 0; id < held_.size(); ++id) {
      if (stage.acquires[id].acquire->privilege != Privilege::Read && !held_[id].empty()) {
        fail("{} never sends its piece of {} home", name(held_[id].begin()->first), tensor(stage.output).name);
      }
    }
    if (replicas_are_stale_ && tensor(stage.output).owners.has_replicas()) {
      fail("the replicas of {} are not brought up to date", tensor(stage.output).name);
    }
  }

 private:
  using HeldRects = std::map<int64_t, std::vector<Rect>>;  // by place

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    throw PlanError("the plan is wrong: " + fmt::format(text, std::forward<Args>(args)...));
  }
  // The number of elements that the left side names: of A(i, i), those of the diagonal.
  static int64_t output_elements(const StagePlan& stage) {
    const std::vector<int>& indices = stage.acquires[0].accesses[0].variables;
    int64_t elements = 1;
    for (int v : std::set<int>(indices.begin(), indices.end())) elements *= stage.space.extents[v];
    return elements;
  }
  const TensorPlan& tensor(int index) const { return plan_.tensors[index]; }
  std::string name(int64_t processor) const { return stage_->machine.processor_name(processor); }

  bool owns(int t, int64_t processor, const Rect& rect) const {
    bool all = true;
    const Ownership& owners = tensor(t).owners;
    owners.for_each_part(rect, [&](const Rect&, const Colour& colour) {
      std::vector<int64_t> holders = owners.processors_of(colour);
      all = all && std::find(holders.begin(), holders.end(), processor) != holders.end();
    });
    return all;
  }

  // Partials are combined at the first replica.
  bool is_first_owner(int t, int64_t processor, const Rect& rect) const {
    bool all = true;
    const Ownership& owners = tensor(t).owners;
    owners.for_each_part(
        rect, [&](const Rect&, const Colour& colour) { all = all && owners.first_owner(colour) == processor; });
    return all;
  }

  void check_views(const AcquirePlan& a, const Fetch& f) const {
    for (size_t i = 0; i < f.views.size(); ++i) {
      if (f.views[i] < 0) continue;
      bool is_of_place = stage_->machine.leader(f.views[i], a.acquire->place_levels) == f.place;
      bool combines_there =
          a.acquire->privilege != Privilege::Reduce || is_first_owner(a.tensor, f.views[i], f.rects[i]);
      if (!is_of_place || !combines_there || !owns(a.tensor, f.views[i], f.rects[i])) {
        fail("{} uses {}{} in place, which is not its own", name(f.place), tensor(a.tensor).name,
             to_string(f.rects[i]));
      }
    }
  }

  // What cannot be used in place must fit into the planned buffer.
  void check_buffer(const AcquirePlan& a, const Fetch& f) const {
    std::vector<Rect> copied;
    for (size_t i = 0; i < f.rects.size(); ++i) {
      int64_t owner = tensor(a.tensor).owners.single_owner(f.rects[i], f.place);
      bool in_shared_piece = a.acquire->privilege == Privilege::Read && owner >= 0 &&
                             needs_.options.reach != Reach::own() && needs_.options.reach.shares_memory(owner, f.place);
      if (f.views[i] < 0 && !in_shared_piece) copied.push_back(f.rects[i]);
    }
    // A rectangle that several accesses need is in the buffer once.
    std::sort(copied.begin(), copied.end(),
              [](const Rect& x, const Rect& y) { return std::tie(x.lo, x.hi) < std::tie(y.lo, y.hi); });
    copied.erase(std::unique(copied.begin(), copied.end()), copied.end());
    int64_t bytes = 0;
    for (const Rect& r : copied) bytes += r.volume() * tensor(a.tensor).element_bytes;
    const auto& buffers = needs_.buffers[stage_ - plan_.stages.data()][a.acquire->id];
    auto need = buffers.find(f.place);
    int64_t capacity = need == buffers.end() ? 0 : need->second.bytes;
    if (bytes > capacity) {
      fail("{} acquires {} bytes of {}, and its buffer has {}", name(f.place), bytes, tensor(a.tensor).name, capacity);
    }
  }

  // While a stage runs, memory holds the pieces of all tensors and the buffers of this stage.
  void check_memory() const {
    std::vector<int64_t> held = home_bytes(plan_);
    for (const auto& acquire : needs_.buffers[stage_ - plan_.stages.data()]) {
      for (const auto& [place, need] : acquire) held[place] += need.bytes * need.depth;
    }
    for (const auto& [p, bytes] : needs_.staging_bytes[stage_ - plan_.stages.data()]) held[p] += 2 * bytes;
    int64_t workspaces = workspace_bytes(*stage_, tensor(stage_->output).element_bytes);
    for (int64_t p : stage_->places(stage_->machine.levels())) held[p] += workspaces;
    int64_t total = 0;
    for (int64_t p = 0; p < plan_.processors; ++p) {
      total += held[p];
      if (held[p] > cap_.per_processor) {
        fail("processor {} holds {} bytes, and the cap is {}", p, held[p], cap_.per_processor);
      }
    }
    if (total > cap_.total) fail("all processors hold {} bytes, and the cap is {}", total, cap_.total);
  }

  // The pieces must be disjoint and together be exactly the rectangles without a view.
  void check_cover(const AcquirePlan& a, const Fetch& f) const {
    if (are_blocks_covered(f)) return;
    std::vector<Rect> needed;
    int64_t volume = 0;
    for (size_t i = 0; i < f.rects.size(); ++i) {
      if (f.views[i] >= 0) continue;
      for (Rect& r : subtract(f.rects[i], needed)) {
        volume += r.volume();
        needed.push_back(std::move(r));
      }
    }
    int64_t brought = 0;
    for (const FetchPiece& p : f.pieces) brought += p.rect.volume();
    for (const Rect& r : needed) {
      int64_t covered = 0;
      for (const FetchPiece& p : f.pieces) {
        if (overlap(p.rect, r)) covered += intersect(p.rect, r).volume();
      }
      if (covered < r.volume()) {
        fail("{} needs {}{}, and {} of its elements have no source", name(f.place), tensor(a.tensor).name, to_string(r),
             r.volume() - covered);
      }
    }
    std::vector<const Rect*> rects;
    for (const FetchPiece& p : f.pieces) rects.push_back(&p.rect);
    if (brought > volume || !are_disjoint(std::move(rects))) {
      fail("{} is brought elements of {} twice", name(f.place), tensor(a.tensor).name);
    }
  }

  // A fast test for many disjoint blocks: the pieces are disjoint, each lies inside a block, and the volumes agree.
  // False does not mean that something is wrong, only that check_cover has to look more closely.
  static bool are_blocks_covered(const Fetch& f) {
    if (f.access_rects.size() != 1 || f.rects.size() == 1) return false;
    std::vector<const Rect*> blocks, pieces;
    int64_t volume = 0, brought = 0;
    for (size_t i = 0; i < f.rects.size(); ++i) {
      blocks.push_back(&f.rects[i]);
      if (f.views[i] < 0) volume += f.rects[i].volume();
    }
    for (const FetchPiece& p : f.pieces) {
      size_t block = rect_at(f.access_rects[0], f.rects, p.rect.lo);
      if (block >= f.rects.size() || f.views[block] >= 0 || !f.rects[block].contains(p.rect)) return false;
      pieces.push_back(&p.rect);
      brought += p.rect.volume();
    }
    return brought == volume && are_disjoint(std::move(blocks)) && are_disjoint(std::move(pieces));
  }

  static bool covers(const std::vector<Rect>& rects, const Rect& piece) { return subtract(piece, rects).empty(); }

  void check_source(const AcquirePlan& a, const Fetch& f, const FetchPiece& p) const {
    bool has = false;
    if (p.from == FetchPiece::From::Home) {
      has = owns(a.tensor, p.source, p.rect);
    } else {
      auto held = before_[a.acquire->id].find(p.source);
      has = held != before_[a.acquire->id].end() && covers(held->second, p.rect);
      if (p.from == FetchPiece::From::Kept) has = has && p.source == f.place;
    }
    if (!has) {
      fail("{} is to get {}{} from {}, which does not have it", name(f.place), tensor(a.tensor).name, to_string(p.rect),
           name(p.source));
    }
  }

  // If the source has one buffer and fetches in this step too, it overwrites the copy that `f` reads, so it must wait
  // for its readers. check_cycles then looks for places that wait for each other.
  void note_wait(int id, const Fetch& f, const FetchPiece& p, const FetchStep& step,
                 std::map<int64_t, int64_t>& waits) const {
    const auto& buffers = needs_.buffers[stage_ - plan_.stages.data()][id];
    auto need = buffers.find(p.source);
    if (need != buffers.end() && need->second.depth >= 2) return;
    bool fetches =
        std::any_of(step.fetches.begin(), step.fetches.end(), [&](const Fetch& g) { return g.place == p.source; });
    if (fetches) waits[p.source] = f.place;
  }

  void check_cycles(const std::map<int64_t, int64_t>& waits) const {
    for (const auto& [start, unused] : waits) {
      std::set<int64_t> seen;
      int64_t at = start;
      while (seen.insert(at).second) {
        auto next = waits.find(at);
        if (next == waits.end()) break;
        at = next->second;
        if (at == start)
          fail("a cycle of waits goes through {}: its only buffer is read and written in one step", name(start));
      }
    }
  }

  void check_transfer(const ReleaseStep& step, const Transfer& t) const {
    bool to_home = t.kind == Transfer::Kind::WriteHome || t.kind == Transfer::Kind::CombineHome ||
                   t.kind == Transfer::Kind::Replicate;
    if (to_home && !owns(step.tensor, t.destination, t.rect)) {
      fail("{}{} is sent to {}, which does not own it", tensor(step.tensor).name, to_string(t.rect),
           name(t.destination));
    }
    if (t.kind == Transfer::Kind::Replicate) {
      if (!owns(step.tensor, t.source, t.rect))
        fail("a replica of {} is copied from {}, which has none", tensor(step.tensor).name, name(t.source));
      return;
    }
    if (!step.acquire) fail("{} is to send {}, which it does not have", name(t.source), tensor(step.tensor).name);
    const Acquire& acquire = *step.acquire->acquire;
    if (!holds(acquire.id, t.source, t.rect)) {
      fail("{} is to send {}{}, which it does not have", name(t.source), tensor(step.tensor).name, to_string(t.rect));
    }
    if (t.kind == Transfer::Kind::CombineHome && !is_first_owner(step.tensor, t.destination, t.rect)) {
      fail("{}{} is combined at {}, which is not its first owner", tensor(step.tensor).name, to_string(t.rect),
           name(t.destination));
    }
    if (t.kind == Transfer::Kind::CombinePartial) check_has_target(acquire.id, step, t);
    if (t.kind == Transfer::Kind::CombineParent) check_has_target(acquire.parent.value_or(-1), step, t);
  }

  // Whether one rectangle of the access holds all of `need`: a leaf takes an operand from one rectangle.
  bool is_in_one_rect(const LeafAccess& access, int64_t place, const std::vector<Rect>& held, const Rect& need) const {
    size_t found = rect_at(access_rects_[access.acquire].at(place)[static_cast<size_t>(access.rect)], held, need.lo);
    return found < held.size() && held[found].contains(need);
  }

  bool holds(int id, int64_t place, const Rect& rect) const {
    auto held = held_[id].find(place);
    return held != held_[id].end() && covers(held->second, rect);
  }

  // The destination must hold the copy that a partial is added to, and must not have sent it on before.
  void check_has_target(int id, const ReleaseStep& step, const Transfer& t) const {
    bool has_target = id >= 0 && holds(id, t.destination, t.rect);
    auto gone = sent_.find(t.destination);
    if (has_target && id == step.acquire->acquire->id && gone != sent_.end()) {
      has_target =
          std::none_of(gone->second.begin(), gone->second.end(), [&](const Rect* r) { return overlap(*r, t.rect); });
    }
    if (!has_target) {
      fail("{}{} is to be added to the copy on {}, which has none at that time", tensor(step.tensor).name,
           to_string(t.rect), name(t.destination));
    }
  }

  // Every element of a released copy is sent exactly once, unless the copy is a home piece used in place.
  void check_all_sent(const ReleaseStep& step) const {
    const AcquirePlan& a = *step.acquire;
    for (int64_t place : step.places) {
      auto held = held_[a.acquire->id].find(place);
      if (held == held_[a.acquire->id].end()) fail("{} releases what it does not have", name(place));
      bool at_home = in_place_[a.acquire->id].at(place) >= 0;
      int64_t volume = at_home ? 0 : held->second[0].volume();
      int64_t sent = 0;
      auto rects = sent_.find(place);
      if (rects != sent_.end()) {
        for (const Rect* r : rects->second) sent += r->volume();
      }
      if (sent != volume) {
        fail("{} sends {} of the {} elements of {} that it has", name(place), sent, volume, tensor(a.tensor).name);
      }
      if (rects != sent_.end() && !are_disjoint(rects->second)) {
        fail("{} sends elements of {} twice", name(place), tensor(a.tensor).name);
      }
    }
  }

  using Deliveries = std::map<int64_t, std::vector<const Rect*>>;  // by processor

  // `wanted` has the number of elements that each processor must get. check_transfer checks that they go to owners.
  void check_delivered(int t, const Deliveries& delivered, const std::map<int64_t, int64_t>& wanted) const {
    for (const auto& [processor, volume] : wanted) {
      auto got = delivered.find(processor);
      int64_t sum = 0;
      if (got != delivered.end()) {
        for (const Rect* r : got->second) sum += r->volume();
      }
      if (sum != volume || (got != delivered.end() && !are_disjoint(got->second))) {
        fail("the replica of {} on {} gets {} of {} elements", tensor(t).name, name(processor), sum, volume);
      }
    }
  }

  // Every replica of a written rectangle must get it, from a replica that has it by then.
  void check_replicas_of_written(const ReleaseStep& step) const {
    const AcquirePlan& a = *step.acquire;
    const Ownership& owners = tensor(a.tensor).owners;
    if (!owners.has_replicas()) return;
    Deliveries delivered;
    std::map<int64_t, int64_t> wanted;
    for (int64_t place : step.places) {
      const Rect& rect = held_[a.acquire->id].at(place)[0];
      int64_t view = in_place_[a.acquire->id].at(place);
      if (view >= 0) delivered[view].push_back(&rect);
      owners.for_each_part(rect, [&](const Rect& part, const Colour& colour) {
        for (int64_t replica : owners.processors_of(colour)) {
          // In `everywhere` dimensions, each place is responsible for the replicas at its own coordinates.
          if (stage_->counterpart(replica, place) == replica) wanted[replica] += part.volume();
        }
      });
    }
    for (const Transfer& t : step.transfers) {
      if (t.kind == Transfer::Kind::Replicate) {
        const auto& has = delivered[t.source];
        bool found = std::any_of(has.begin(), has.end(), [&](const Rect* r) { return r->contains(t.rect); });
        if (!found) fail("a replica of {} is copied from {}, which has none", tensor(a.tensor).name, name(t.source));
      }
      delivered[t.destination].push_back(&t.rect);
    }
    check_delivered(a.tensor, delivered, wanted);
  }

  // Partials are combined at the first replica. At the end of the stage every other replica is copied from there.
  void check_replicas_of_all(const ReleaseStep& step) {
    const Ownership& owners = tensor(step.tensor).owners;
    Deliveries delivered;
    std::map<int64_t, int64_t> wanted;
    owners.for_each_part(whole(owners.shape()), [&](const Rect& part, const Colour& colour) {
      std::vector<int64_t> replicas = owners.processors_of(colour);
      for (size_t r = 1; r < replicas.size(); ++r) wanted[replicas[r]] += part.volume();
    });
    for (const Transfer& t : step.transfers) {
      if (!is_first_owner(step.tensor, t.source, t.rect)) {
        fail("a replica of {} is copied from {}, which is not the first", tensor(step.tensor).name, name(t.source));
      }
      delivered[t.destination].push_back(&t.rect);
    }
    check_delivered(step.tensor, delivered, wanted);
    replicas_are_stale_ = false;
  }

  const Plan& plan_;
  const MemoryNeeds& needs_;
  MemoryCap cap_;
  const StagePlan* stage_ = nullptr;
  std::vector<HeldRects> held_;                                            // by acquire
  std::vector<HeldRects> before_;                                          // at the step before
  std::vector<std::map<int64_t, std::vector<AccessRects>>> access_rects_;  // by acquire and place
  std::vector<std::map<int64_t, int64_t>> in_place_;  // by acquire and place: whose piece is used in place, or -1
  std::map<int64_t, std::vector<const Rect*>> sent_;  // by source, in this release
  std::vector<Interval<int64_t>> intervals_;
  int64_t written_ = 0;
  bool replicas_are_stale_ = false;  // partials were combined since the last copies to further replicas
};

}  // namespace

std::unique_ptr<PlanVisitor> make_verifier(const Plan& plan, const MemoryNeeds& needs, const MemoryCap& cap) {
  return std::make_unique<Verifier>(plan, needs, cap);
}

void verify(const Plan& plan, const MemoryNeeds& needs, const MemoryCap& cap) {
  Verifier verifier(plan, needs, cap);
  walk(plan, verifier);
}

}  // namespace distal::core
