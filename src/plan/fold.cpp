#include "plan/fold.h"

#include <algorithm>
#include <set>

namespace distal::core {

namespace {

// The nodes from the root to the leaf, without Chain and Init.
std::vector<const Node*> spine(const Stage& stage) {
  std::vector<const Node*> out;
  const Node* node = stage.root.get();
  while (true) {
    if (const auto* c = std::get_if<Chain>(&node->value)) {
      node = c->parts.back().get();
      continue;
    }
    out.push_back(node);
    if (const auto* l = std::get_if<Loop>(&node->value)) {
      node = l->body.get();
    } else if (const auto* a = std::get_if<Launch>(&node->value)) {
      node = a->body.get();
    } else if (const auto* q = std::get_if<Acquire>(&node->value)) {
      node = q->body.get();
    } else {
      return out;
    }
  }
}

class Folder {
 public:
  Folder(const Plan& plan, StagePlan& stage) : plan_(plan), stage_(stage), spine_(spine(*stage.stage)) {}

  void run() {
    const Compute* compute = leaf_of(*stage_.stage).root.compute();
    if (compute && compute->library) return;  // `substitute` names the loops of the kernel: no others may join them
    for (size_t at = first_foldable(); at < spine_.size(); ++at) {
      bool loop = std::holds_alternative<Loop>(spine_[at]->value);
      if (loop && is_local_below(at)) return fold(at);
    }
  }

 private:
  size_t first_foldable() const {
    size_t first = 0;
    for (size_t i = 0; i < spine_.size(); ++i) {
      if (std::holds_alternative<Launch>(spine_[i]->value)) first = i + 1;
    }
    return first;
  }

  std::vector<bool> fixed_above(size_t at, const AcquirePlan& acquire) const {
    std::vector<bool> fixed = acquire.is_fixed;
    for (size_t i = at; i < spine_.size(); ++i) {
      if (const auto* l = std::get_if<Loop>(&spine_[i]->value)) fixed[l->variable] = false;
    }
    return fixed;
  }

  // A leaf takes each operand from one rectangle. A loop whose iterations acquire different rectangles cannot be
  // folded.
  bool has_blocks_of_loops_below(size_t at) const {
    std::set<int> below;
    for (size_t i = at; i < spine_.size(); ++i) {
      if (const auto* l = std::get_if<Loop>(&spine_[i]->value)) below.insert(l->variable);
    }
    for (size_t i = 0; i < at; ++i) {
      const auto* q = std::get_if<Acquire>(&spine_[i]->value);
      if (!q) continue;
      const std::vector<int>& blocks = stage_.acquires[q->id].blocks;
      if (std::any_of(blocks.begin(), blocks.end(), [&](int v) { return below.count(v) > 0; })) return true;
    }
    return false;
  }

  bool is_local_below(size_t at) {
    if (has_blocks_of_loops_below(at)) return false;
    std::vector<const AcquirePlan*> inside;
    double steps = 1;
    std::vector<int> loops;
    for (size_t i = 0; i < spine_.size(); ++i) {
      if (const auto* q = std::get_if<Acquire>(&spine_[i]->value); q && i > at)
        inside.push_back(&stage_.acquires[q->id]);
      if (const auto* l = std::get_if<Loop>(&spine_[i]->value); l && i < at) {
        loops.push_back(l->variable);
        steps *= static_cast<double>(stage_.space.extents[l->variable]);
      }
    }
    std::vector<int64_t> places = stage_.places(stage_.machine.levels());
    if (steps * static_cast<double>(places.size()) > static_cast<double>(kMaxSteps)) return false;
    std::vector<int64_t> values(static_cast<size_t>(stage_.space.size()), 0);
    for (const AcquirePlan* a : inside) {
      if (!is_local(*a, fixed_above(at, *a), loops, 0, places, values)) return false;
    }
    return true;
  }

  bool is_local(const AcquirePlan& a, const std::vector<bool>& fixed, const std::vector<int>& loops, size_t depth,
                const std::vector<int64_t>& places, std::vector<int64_t>& values) {
    if (depth < loops.size()) {
      for (int64_t x = 0; x < stage_.space.extents[loops[depth]]; ++x) {
        values[loops[depth]] = x;
        if (!is_local(a, fixed, loops, depth + 1, places, values)) return false;
      }
      return true;
    }
    for (int64_t place : places) {
      if (!stage_.bounds_at(place, fixed, values, intervals_)) continue;
      for (const PlacedAccess& access : a.accesses) {
        Rect rect = rect_of(access, intervals_);
        if (own_view(plan_.tensors[a.tensor], stage_, *a.acquire, place, rect) < 0) return false;
        if (a.acquire->privilege == Privilege::Write && !is_all_touched(access.variables)) return false;
      }
    }
    return true;
  }

  // A write releases its whole rectangle, which then overwrites the other replicas. So folding must not make a
  // rectangle that is only the bounding box of the written elements.
  bool is_all_touched(const std::vector<int>& access) const {
    for (size_t d = 0; d < access.size(); ++d) {
      const Interval<int64_t>& interval = intervals_[access[d]];
      bool repeated = std::count(access.begin(), access.end(), access[d]) > 1;
      if (!interval.exact || (repeated && interval.hi - interval.lo > 1)) return false;
    }
    return true;
  }

  void fold(size_t at) {
    std::vector<int> loops;
    for (size_t i = at; i < spine_.size(); ++i) {
      if (const auto* l = std::get_if<Loop>(&spine_[i]->value)) loops.push_back(l->variable);
      if (const auto* q = std::get_if<Acquire>(&spine_[i]->value)) {
        stage_.acquires[q->id].is_fixed = fixed_above(at, stage_.acquires[q->id]);
        stage_.acquires[q->id].blocks.clear();  // it acquires one rectangle now, inside one home piece
      }
    }
    stage_.leaf_loops.insert(stage_.leaf_loops.begin(), loops.begin(), loops.end());
    stage_.fold_at = spine_[at];
  }

  const Plan& plan_;
  StagePlan& stage_;
  std::vector<const Node*> spine_;
  std::vector<Interval<int64_t>> intervals_;
};

}  // namespace

void fold_local_loops(const Plan& plan, StagePlan& stage) { Folder(plan, stage).run(); }

int64_t own_view(const TensorPlan& tensor, const StagePlan& stage, const Acquire& acquire, int64_t place,
                 const Rect& rect) {
  const Ownership& owners = tensor.owners;
  int64_t owner = owners.single_owner(rect, place);
  if (owner < 0 || stage.machine.leader(owner, acquire.place_levels) != place) return -1;
  if (acquire.privilege == Privilege::Reduce && owner != owners.first_owner(owners.colour_of(rect.lo))) return -1;
  return owner;
}

}  // namespace distal::core
