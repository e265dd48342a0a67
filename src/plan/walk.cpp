#include "plan/walk.h"

#include <algorithm>
#include <map>

#include "plan/fold.h"
#include "plan/partials.h"

namespace distal::core {

namespace {

// The copy that a place has of one acquire.
struct AcquiredCopy {
  bool any = false;
  std::vector<Rect> rects;
  std::vector<AccessRects> access_rects;
  std::vector<int64_t> views;
};

struct AcquireState {
  std::vector<int64_t> places;
  std::unordered_map<int64_t, AcquiredCopy> held;
  Requests previous;  // of the step before
  Requests current;
  int64_t step = 0;
};

class Walker {
 public:
  Walker(const Plan& plan, const StagePlan& stage, PlanVisitor& visitor)
      : plan_(plan), stage_(stage), visitor_(visitor), values_(static_cast<size_t>(stage.space.size()), 0) {
    for (const AcquirePlan& a : stage.acquires) {
      AcquireState state;
      state.places = stage.places(a.acquire->place_levels);
      states_.push_back(std::move(state));
    }
    processors_ = stage.places(stage.machine.levels());
  }

  void run() {
    visitor_.begin(stage_);
    visit(*stage_.stage->root);
    release_everything();
    visitor_.end(stage_);
  }

 private:
  void visit(const Node& node) {
    if (&node == stage_.fold_at) return visit_folded(node);
    std::visit([&](const auto& n) { step(n); }, node.value);
  }

  void step(const Launch& n) { visit(*n.body); }
  void step(const Loop& n) {
    for (int64_t x = 0; x < stage_.space.extents[n.variable]; ++x) {
      values_[n.variable] = x;
      visit(*n.body);
    }
    values_[n.variable] = 0;
  }
  void step(const Acquire& n) {
    acquire(stage_.acquires[n.id]);
    visit(*n.body);
  }
  void step(const Leaf&) { leaf(); }
  void step(const Init& n) { visitor_.init(plan_.tensor_index(n.tensor)); }
  void step(const Chain& n) {
    for (const NodePtr& part : n.parts) visit(*part);
  }

  void visit_folded(const Node& node) {
    const Node* inner = &node;
    while (true) {
      if (const auto* q = std::get_if<Acquire>(&inner->value)) {
        acquire(stage_.acquires[q->id]);
        inner = q->body.get();
      } else if (const auto* l = std::get_if<Loop>(&inner->value)) {
        inner = l->body.get();
      } else {
        return leaf();
      }
    }
  }

  void leaf() {
    if (!visitor_.wants_leaves()) return;
    LeafStep step{&values_, {}};
    for (int64_t p : processors_) {
      if (stage_.bounds_at(p, stage_.leaf_is_fixed, values_, intervals_)) step.processors.push_back(p);
    }
    if (!step.processors.empty()) visitor_.leaf(step);
  }

  // One step of an acquire on all places. Releases the outputs whose rectangle changes, then fetches.
  void acquire(const AcquirePlan& a) {
    AcquireState& state = states_[a.acquire->id];
    std::swap(state.previous, state.current);
    state.current.clear();
    FetchStep step{&a, state.step, {}, &state.current};
    std::vector<int64_t> releasing;
    for (int64_t place : state.places) {
      if (!stage_.bounds_at(place, a.is_fixed, values_, intervals_)) continue;
      Fetch fetch{place, {}, {}, {}, {}};
      for (const PlacedAccess& access : a.accesses) {
        fetch.access_rects.push_back(add_access_rects(stage_, a, access, place, values_, intervals_, fetch.rects));
      }
      state.current[fetch.rects].push_back(place);
      AcquiredCopy& held = state.held[place];
      if (held.any && held.rects == fetch.rects && held.access_rects == fetch.access_rects) continue;
      if (held.any && a.acquire->privilege != Privilege::Read) releasing.push_back(place);
      find_sources(a, state, held, fetch);
      step.fetches.push_back(std::move(fetch));
    }
    if (!releasing.empty()) {
      release_children(a, releasing);
      release(a, releasing);
    }
    for (const Fetch& f : step.fetches) state.held[f.place] = {true, f.rects, f.access_rects, f.views};
    if (!step.fetches.empty()) visitor_.fetch(step);
    ++state.step;
  }

  void find_sources(const AcquirePlan& a, const AcquireState& state, const AcquiredCopy& held, Fetch& fetch) const {
    const TensorPlan& tensor = plan_.tensors[a.tensor];
    for (const Rect& r : fetch.rects) {
      // An inner partial goes to its parent's copy, not home, so it is never a home piece used in place.
      fetch.views.push_back(a.acquire->parent ? -1 : own_view(tensor, stage_, *a.acquire, fetch.place, r));
    }
    if (a.acquire->privilege == Privilege::Read) add_pieces(a, state, held, fetch);
  }

  // Chooses the sources: first own memory, then a neighbour that acquired the same rectangles at the step before, then
  // the nearest owner.
  void add_pieces(const AcquirePlan& a, const AcquireState& state, const AcquiredCopy& held, Fetch& fetch) const {
    const Ownership& owners = plan_.tensors[a.tensor].owners;
    int64_t neighbour = -1;
    bool looked = false;
    size_t access = 0;
    for (size_t i = 0; i < fetch.rects.size(); ++i) {
      while (access + 1 < fetch.access_rects.size() && fetch.access_rects[access + 1].first <= i) ++access;
      if (fetch.views[i] >= 0) continue;
      for (const Rect& part : subtract(fetch.rects[i], brought_before(fetch, access, fetch.rects[i]))) {
        owners.for_each_part(part, [&](const Rect& piece, const Colour& colour) {
          int64_t owner = owner_for(owners, colour, fetch.place, a.acquire->place_levels);
          if (!moves(stage_, a.acquire->place_levels, owner, fetch.place)) {
            fetch.pieces.push_back({piece, owner, FetchPiece::From::Home});
            return;
          }
          if (!looked) {
            neighbour = find_neighbour(state, fetch);
            looked = true;
          }
          add_remote(held, neighbour, owner, piece, fetch);
        });
      }
    }
  }

  // The nearest owner. If the tensor is on a grid of another shape, the nearest owner may be outside of the place
  // although the place has a replica too.
  int64_t owner_for(const Ownership& owners, const Colour& colour, int64_t place, int place_levels) const {
    int64_t nearest = owners.nearest_owner(colour, place);
    if (!owners.has_replicas() || !moves(stage_, place_levels, nearest, place)) return nearest;
    for (int64_t owner : owners.processors_of(colour)) {
      if (!moves(stage_, place_levels, owner, place)) return owner;
    }
    return nearest;
  }

  // The copied rectangles of earlier accesses that overlap `rect`. The rectangles of one access do not overlap.
  static std::vector<Rect> brought_before(const Fetch& fetch, size_t access, const Rect& rect) {
    std::vector<Rect> out;
    for (size_t before = 0; before < access; ++before) {
      for (size_t i : overlapping(fetch.access_rects[before], fetch.rects, rect)) {
        if (fetch.views[i] < 0) out.push_back(fetch.rects[i]);
      }
    }
    return out;
  }

  static void add_remote(const AcquiredCopy& held, int64_t neighbour, int64_t owner, const Rect& piece, Fetch& fetch) {
    std::vector<Rect> missing{piece};
    if (held.any) {
      std::vector<Rect> had;
      for (const AccessRects& access : held.access_rects) {
        for (size_t i : overlapping(access, held.rects, piece)) had.push_back(held.rects[i]);
      }
      missing = subtract(piece, had);
      for (const Rect& kept : complement(piece, missing)) {
        fetch.pieces.push_back({kept, fetch.place, FetchPiece::From::Kept});
      }
    }
    for (Rect& m : missing) {
      if (neighbour >= 0) {
        fetch.pieces.push_back({std::move(m), neighbour, FetchPiece::From::Neighbour});
      } else {
        fetch.pieces.push_back({std::move(m), owner, FetchPiece::From::Home});
      }
    }
  }

  static std::vector<Rect> complement(const Rect& whole, const std::vector<Rect>& parts) {
    if (parts.size() == 1 && parts[0] == whole) return {};
    return subtract(whole, parts);
  }

  int64_t find_neighbour(const AcquireState& state, const Fetch& fetch) const {
    if (!plan_.options.neighbours || state.step == 0) return -1;
    auto found = state.previous.find(fetch.rects);
    if (found == state.previous.end()) return -1;
    auto nearer = [&](int64_t p, int64_t q) {
      int lp = stage_.machine.crossed_level(p, fetch.place), lq = stage_.machine.crossed_level(q, fetch.place);
      if (lp != lq) return lp > lq;
      int64_t dp = stage_.machine.distance(p, fetch.place), dq = stage_.machine.distance(q, fetch.place);
      return dp != dq ? dp < dq : p < q;
    };
    int64_t best = -1;
    for (int64_t p : found->second) {
      if (p != fetch.place && (best < 0 || nearer(p, best))) best = p;
    }
    return best;
  }

  // ---- written rectangles and partials go home ----

  void release_children(const AcquirePlan& parent, const std::vector<int64_t>& places) {
    for (const AcquirePlan& child : stage_.acquires) {
      if (child.acquire->parent != parent.acquire->id) continue;
      std::vector<int64_t> releasing;
      for (int64_t p : states_[child.acquire->id].places) {
        int64_t leader = stage_.machine.leader(p, parent.acquire->place_levels);
        bool ends = std::binary_search(places.begin(), places.end(), leader);
        if (ends && states_[child.acquire->id].held[p].any) releasing.push_back(p);
      }
      if (!releasing.empty()) release(child, releasing);
    }
  }

  void release(const AcquirePlan& a, const std::vector<int64_t>& places) {
    AcquireState& state = states_[a.acquire->id];
    ReleaseStep step{&a, a.tensor, state.step, places, {}};
    if (a.acquire->privilege == Privilege::Write) {
      for (int64_t place : places) add_writes(a, place, state.held[place], step);
    } else {
      step.transfers = combine(stage_.machine, partial_sums(a, state, places));
    }
    for (int64_t place : places) state.held[place] = AcquiredCopy{};
    visitor_.release(step);
  }

  void add_writes(const AcquirePlan& a, int64_t place, const AcquiredCopy& held, ReleaseStep& step) const {
    const Ownership& owners = plan_.tensors[a.tensor].owners;
    owners.for_each_part(held.rects[0], [&](const Rect& part, const Colour& colour) {
      int64_t holder = held.views[0];
      if (holder < 0) {
        holder = owner_for(owners, colour, place, a.acquire->place_levels);
        if (moves(stage_, a.acquire->place_levels, holder, place)) {
          holder = stage_.counterpart(owners.first_owner(colour), place);
        }
        step.transfers.push_back({part, place, holder, Transfer::Kind::WriteHome});
      }
      for (int64_t replica : owners.processors_of(colour)) {
        // In `everywhere` dimensions, every coordinate writes its own replicas.
        bool ours = stage_.counterpart(replica, place) == replica;
        if (ours && replica != holder) step.transfers.push_back({part, holder, replica, Transfer::Kind::Replicate});
      }
    });
  }

  std::vector<PartialSum> partial_sums(const AcquirePlan& a, AcquireState& state,
                                       const std::vector<int64_t>& places) const {
    std::unordered_map<std::vector<Rect>, std::vector<int64_t>, RectListHash> same;
    std::vector<const std::vector<Rect>*> order;
    for (int64_t place : places) {
      const AcquiredCopy& held = state.held[place];
      if (held.views[0] >= 0) continue;
      auto [entry, fresh] = same.try_emplace(held.rects);
      if (fresh) order.push_back(&entry->first);
      entry->second.push_back(place);
    }
    std::vector<PartialSum> out;
    for (const std::vector<Rect>* rects : order) {
      const std::vector<int64_t>& sources = same.at(*rects);
      if (a.acquire->parent) {
        int levels = stage_.acquires[*a.acquire->parent].acquire->place_levels;
        std::map<int64_t, std::vector<int64_t>> by_parent;
        for (int64_t p : sources) by_parent[stage_.machine.leader(p, levels)].push_back(p);
        for (auto& [leader, members] : by_parent) {
          out.push_back({(*rects)[0], std::move(members), leader, Transfer::Kind::CombineParent, levels + 1,
                         stage_.machine.levels()});
        }
      } else {
        const Ownership& owners = plan_.tensors[a.tensor].owners;
        owners.for_each_part((*rects)[0], [&](const Rect& part, const Colour& colour) {
          out.push_back(
              {part, sources, owners.first_owner(colour), Transfer::Kind::CombineHome, 1, a.acquire->place_levels});
        });
      }
    }
    return out;
  }

  void release_everything() {
    // Inner partials come first, because they are added to their parents' copies.
    for (auto a = stage_.acquires.rbegin(); a != stage_.acquires.rend(); ++a) {
      if (a->acquire->privilege == Privilege::Read) continue;
      std::vector<int64_t> releasing;
      for (int64_t p : states_[a->acquire->id].places) {
        if (states_[a->acquire->id].held[p].any) releasing.push_back(p);
      }
      if (!releasing.empty()) release(*a, releasing);
    }
    bool reduced = stage_.acquires[0].acquire->privilege == Privilege::Reduce;
    if (reduced && plan_.tensors[stage_.output].owners.has_replicas()) replicate();
  }

  void replicate() {
    const Ownership& owners = plan_.tensors[stage_.output].owners;
    ReleaseStep step{nullptr, stage_.output, states_[0].step + 1, {}, {}};
    owners.for_each_part(whole(owners.shape()), [&](const Rect& part, const Colour& colour) {
      std::vector<int64_t> replicas = owners.processors_of(colour);
      for (size_t r = 1; r < replicas.size(); ++r) {
        step.transfers.push_back({part, replicas[0], replicas[r], Transfer::Kind::Replicate});
      }
    });
    visitor_.release(step);
  }

  const Plan& plan_;
  const StagePlan& stage_;
  PlanVisitor& visitor_;
  std::vector<int64_t> values_;
  std::vector<AcquireState> states_;
  std::vector<int64_t> processors_;
  std::vector<Interval<int64_t>> intervals_;
};

}  // namespace

void walk(const Plan& plan, const StagePlan& stage, PlanVisitor& visitor) { Walker(plan, stage, visitor).run(); }

void walk(const Plan& plan, PlanVisitor& visitor) {
  for (const StagePlan& stage : plan.stages) walk(plan, stage, visitor);
}

bool moves(const StagePlan& stage, const ReleaseStep& step, const Transfer& transfer) {
  int levels = stage.machine.levels();
  if (transfer.kind == Transfer::Kind::WriteHome || transfer.kind == Transfer::Kind::CombineHome) {
    levels = step.acquire->acquire->place_levels;
  }
  return moves(stage, levels, transfer.source, transfer.destination);
}

}  // namespace distal::core
