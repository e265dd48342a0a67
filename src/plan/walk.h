#pragma once

#include <unordered_map>
#include <vector>

#include "plan/access_rects.h"
#include "plan/plan.h"

namespace distal::core {

// The steps of a plan in time order: all processors of one step, then the next step.

// A part of an acquired rectangle and where it comes from. Only `walk` chooses sources.
struct FetchPiece {
  enum class From {
    Home,       // the source's home piece of the tensor
    Kept,       // the copy that this place has so far
    Neighbour,  // the copy that the source acquired at the step before
  };
  Rect rect;
  int64_t source = 0;
  From from = From::Home;
};

// One place acquires rectangles, because they differ from the rectangles that it has.
struct Fetch {
  int64_t place = 0;
  std::vector<Rect> rects;
  std::vector<AccessRects> access_rects;  // by access: its range of `rects`
  // By rectangle: the processor of this place whose piece holds all of it and is used in place, or -1 for a copy.
  std::vector<int64_t> views;
  // Disjoint parts of the rectangles without a view, which together cover them. Empty for outputs, whose copies start
  // at zero.
  std::vector<FetchPiece> pieces;
};

// The places that need the same rectangles at one step.
using Requests = std::unordered_map<std::vector<Rect>, std::vector<int64_t>, RectListHash>;

struct FetchStep {
  const AcquirePlan* acquire = nullptr;
  int64_t step = 0;
  std::vector<Fetch> fetches;
  const Requests* requests = nullptr;  // of all places, also of those that fetch nothing
};

// A written rectangle, a partial or a replica that a release sends to another place.
struct Transfer {
  enum class Kind {
    WriteHome,       // stored into the destination's piece
    CombineHome,     // added to the destination's piece
    CombinePartial,  // added to the destination's own partial, which is sent on later
    CombineParent,   // added to the copy that the destination's upper-level processor shares
    Replicate,       // copied from the source's piece to the destination's: a further replica
  };
  Rect rect;
  int64_t source = 0;
  int64_t destination = 0;
  Kind kind = Kind::WriteHome;
};

// Whether the transfer adds to what the destination has.
inline bool adds(const Transfer& t) {
  return t.kind != Transfer::Kind::WriteHome && t.kind != Transfer::Kind::Replicate;
}

// Whether the transfer ends in the destination's home piece.
inline bool ends_at_home(const Transfer& t) {
  return t.kind != Transfer::Kind::CombinePartial && t.kind != Transfer::Kind::CombineParent;
}

struct ReleaseStep {
  const AcquirePlan* acquire = nullptr;  // null for the copies to further replicas at the end of the stage
  int tensor = 0;
  int64_t step = 0;
  std::vector<int64_t> places;      // the places that give up their copies
  std::vector<Transfer> transfers;  // in the order in which they must take effect
};

struct LeafStep {
  const std::vector<int64_t>* values = nullptr;  // of the sequential loops, by variable
  std::vector<int64_t> processors;               // those that have iterations now
};

class PlanVisitor {
 public:
  virtual ~PlanVisitor() = default;
  virtual void begin(const StagePlan&) {}
  virtual void init(int /*tensor*/) {}
  virtual void fetch(const FetchStep&) {}
  virtual void release(const ReleaseStep&) {}
  virtual bool wants_leaves() const { return true; }
  virtual void leaf(const LeafStep&) {}
  virtual void end(const StagePlan&) {}
};

void walk(const Plan& plan, PlanVisitor& visitor);
void walk(const Plan& plan, const StagePlan& stage, PlanVisitor& visitor);

// Whether data moves: source and destination differ in the outermost `place_levels` levels.
inline bool moves(const StagePlan& stage, int place_levels, int64_t source, int64_t destination) {
  return stage.machine.leader(source, place_levels) != stage.machine.leader(destination, place_levels);
}
bool moves(const StagePlan& stage, const ReleaseStep& step, const Transfer& transfer);

}  // namespace distal::core
