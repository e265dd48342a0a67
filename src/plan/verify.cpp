#include "plan/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace distal {

namespace {

class Verifier : public PlanVisitor {
 public:
  Verifier(const Plan& plan, const MemoryNeeds& needs) : plan_(plan), needs_(needs) {}

  void begin(const StagePlan& stage) override {
    stage_ = &stage;
    held_.assign(stage.acquires.size(), {});
    before_.assign(stage.acquires.size(), {});
    written_ = 0;
  }

  void fetch(const FetchStep& step) override {
    const AcquirePlan& a = *step.acquire;
    int id = a.acquire->id;
    // Neighbours serve what they had before this step, whatever they ask for now.
    before_[id] = held_[id];
    std::map<int64_t, int64_t> waits;
    for (const Fetch& f : step.fetches) {
      check_views(a, f);
      if (a.acquire->privilege == Privilege::Read) {
        check_cover(a, f);
        for (const FetchPiece& p : f.pieces) {
          check_source(a, f, p);
          if (p.from == FetchPiece::From::Neighbour) note_wait(id, f, p, step, waits);
        }
      }
      held_[id][f.place] = f.rects;
    }
    check_circles(waits);
  }

  void release(const ReleaseStep& step) override {
    for (const Transfer& t : step.transfers) check_transfer(step, t);
    if (!step.acquire) return;
    check_all_sent(step);
    int id = step.acquire->acquire->id;
    if (step.acquire->acquire->privilege == Privilege::Write) {
      for (int64_t p : step.places) written_ += held_[id][p].empty() ? 0 : held_[id][p][0].volume();
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
        Rect need = rect_of(access.indices, intervals_);
        if (held == held_[access.acquire].end() || !held->second[access.rect].contains(need)) {
          fail("processor {} touches {}{} without having acquired it", name(p), tensor(a.tensor).name, to_string(need));
        }
      }
    }
  }

  void end(const StagePlan& stage) override {
    const Acquire& output = *stage.acquires[0].acquire;
    int64_t volume = 1;
    for (int64_t e : tensor(stage.output).owners.shape()) volume *= e;
    if (output.privilege == Privilege::Write && written_ != volume) {
      fail("{} of the {} elements of {} are written", written_, volume, tensor(stage.output).name);
    }
    for (size_t id = 0; id < held_.size(); ++id) {
      if (stage.acquires[id].acquire->privilege != Privilege::Read && !held_[id].empty()) {
        fail("a piece of {} that {} has never goes home", tensor(stage.output).name, name(held_[id].begin()->first));
      }
    }
  }

 private:
  using HeldRects = std::map<int64_t, std::vector<Rect>>;  // by place

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    throw PlanError("the plan is wrong: " + fmt::format(text, std::forward<Args>(args)...));
  }
  const TensorPlan& tensor(int index) const { return plan_.tensors[index]; }
  std::string name(int64_t processor) const { return stage_->machine.processor_name(processor); }

  bool owns(int t, int64_t processor, const Rect& rect) const {
    bool all = true;
    const Ownership& owners = tensor(t).owners;
    owners.cut(rect, [&](const Rect&, const Colour& colour) {
      std::vector<int64_t> holders = owners.processors_of(colour);
      all = all && std::find(holders.begin(), holders.end(), processor) != holders.end();
    });
    return all;
  }

  void check_views(const AcquirePlan& a, const Fetch& f) const {
    for (size_t i = 0; i < f.views.size(); ++i) {
      if (f.views[i] < 0) continue;
      bool in_reach = stage_->machine.leader(f.views[i], a.acquire->place_levels) == f.place;
      if (!in_reach || !owns(a.tensor, f.views[i], f.rects[i])) {
        fail("{} uses {}{} in place, which is not its own", name(f.place), tensor(a.tensor).name,
             to_string(f.rects[i]));
      }
    }
  }

  // The pieces are disjoint and together are exactly what has no view.
  void check_cover(const AcquirePlan& a, const Fetch& f) const {
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
    if (brought > volume) fail("{} is brought elements of {} twice", name(f.place), tensor(a.tensor).name);
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

  // A source with one buffer overwrites its copy as soon as it fetches itself, so it must wait for its readers.
  void note_wait(int id, const Fetch& f, const FetchPiece& p, const FetchStep& step,
                 std::map<int64_t, int64_t>& waits) const {
    const auto& buffers = needs_.buffers[stage_ - plan_.stages.data()][id];
    auto need = buffers.find(p.source);
    if (need != buffers.end() && need->second.depth >= 2) return;
    bool fetches =
        std::any_of(step.fetches.begin(), step.fetches.end(), [&](const Fetch& g) { return g.place == p.source; });
    if (fetches) waits[p.source] = f.place;
  }

  void check_circles(const std::map<int64_t, int64_t>& waits) const {
    for (const auto& [start, unused] : waits) {
      std::set<int64_t> seen;
      int64_t at = start;
      while (seen.insert(at).second) {
        auto next = waits.find(at);
        if (next == waits.end()) break;
        at = next->second;
        if (at == start)
          fail("a circle of waits goes through {}: its one buffer is read and written at once", name(start));
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
    const HeldRects& held = held_[step.acquire->acquire->id];
    auto source = held.find(t.source);
    if (source == held.end() || !covers(source->second, t.rect)) {
      fail("{} is to send {}{}, which it does not have", name(t.source), tensor(step.tensor).name, to_string(t.rect));
    }
  }

  // Every element that a place leaves behind is sent exactly once, unless it lies at home already.
  void check_all_sent(const ReleaseStep& step) const {
    const AcquirePlan& a = *step.acquire;
    std::map<int64_t, int64_t> sent;
    for (const Transfer& t : step.transfers) {
      if (t.kind != Transfer::Kind::Replicate) sent[t.source] += t.rect.volume();
    }
    for (int64_t place : step.places) {
      auto held = held_[a.acquire->id].find(place);
      if (held == held_[a.acquire->id].end()) fail("{} releases what it does not have", name(place));
      int64_t volume = held->second[0].volume();
      if (sent[place] != volume &&
          !(sent[place] == 0 && owns(a.tensor, home_of(a, place, held->second[0]), held->second[0]))) {
        fail("{} sends {} of the {} elements of {} that it has", name(place), sent[place], volume,
             tensor(a.tensor).name);
      }
    }
  }

  int64_t home_of(const AcquirePlan& a, int64_t place, const Rect& rect) const {
    int64_t owner = tensor(a.tensor).owners.single_owner(rect, place);
    return owner >= 0 && stage_->machine.leader(owner, a.acquire->place_levels) == place ? owner : place;
  }

  const Plan& plan_;
  const MemoryNeeds& needs_;
  const StagePlan* stage_ = nullptr;
  std::vector<HeldRects> held_;    // by acquire
  std::vector<HeldRects> before_;  // at the step before
  std::vector<Interval<int64_t>> intervals_;
  int64_t written_ = 0;
};

}  // namespace

std::unique_ptr<PlanVisitor> make_verifier(const Plan& plan, const MemoryNeeds& needs) {
  return std::make_unique<Verifier>(plan, needs);
}

void verify(const Plan& plan, const MemoryNeeds& needs) {
  Verifier verifier(plan, needs);
  walk(plan, verifier);
}

}  // namespace distal
