#pragma once

#include <unordered_map>
#include <vector>

#include "plan/plan.h"
#include "plan/region.h"

namespace distal::core {

// The steps of a plan, in the order in which every walker sees them: all processors of one step, then the next step.

// A part of an acquired rectangle and where it comes from. Sources are chosen here and nowhere else.
struct FetchPiece {
  enum class From {
    Home,       // the source's piece of the tensor
    Kept,       // what this place acquired at the step before
    Neighbour,  // what the source acquired at the step before
  };
  Rect rect;
  int64_t source = 0;
  From from = From::Home;
};

// A place asks for rectangles that it did not have. A view >= 0 names the processor whose piece holds that whole
// rectangle and is in the place's own reach: nothing is brought, it is used where it lies.
struct Fetch {
  int64_t place = 0;
  std::vector<Rect> rects;
  std::vector<Region> regions;  // which of them are whose, by access
  std::vector<int64_t> views;
  std::vector<FetchPiece> pieces;  // disjoint; together the rectangles without a view. Outputs start at zero instead
};

// Everyone that needs the same rectangles at one step.
using Requests = std::unordered_map<std::vector<Rect>, std::vector<int64_t>, RectListHash>;

struct FetchStep {
  const AcquirePlan* acquire = nullptr;
  int64_t step = 0;
  std::vector<Fetch> fetches;
  const Requests* requests = nullptr;  // of all places, also of those that fetch nothing
};

// A written or partial piece on its way.
struct Transfer {
  enum class Kind {
    WriteHome,       // stored into the destination's piece
    CombineHome,     // added to it
    CombinePartial,  // added to what the destination has of it itself, to travel on from there
    CombineParent,   // added to the copy that the destination's upper-level processor shares
    Replicate,       // from piece to piece: a further replica
  };
  Rect rect;
  int64_t source = 0;
  int64_t destination = 0;
  Kind kind = Kind::WriteHome;
};

// Whether what it brings is added to what is there.
inline bool adds(const Transfer& t) {
  return t.kind != Transfer::Kind::WriteHome && t.kind != Transfer::Kind::Replicate;
}

// Whether it goes into the destination's piece.
inline bool ends_at_home(const Transfer& t) {
  return t.kind != Transfer::Kind::CombinePartial && t.kind != Transfer::Kind::CombineParent;
}

struct ReleaseStep {
  const AcquirePlan* acquire = nullptr;  // null for the last copies to further replicas
  int tensor = 0;
  int64_t step = 0;
  std::vector<int64_t> places;      // whose copies end here
  std::vector<Transfer> transfers;  // to be carried out in this order
};

struct LeafStep {
  const std::vector<int64_t>* values = nullptr;  // of the sequential loops, by variable
  std::vector<int64_t> processors;               // those that have something to do
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

// Whether a transfer counts as moved: it leaves the processor (of as many levels as the acquire's place has).
inline bool moves(const StagePlan& stage, int place_levels, int64_t source, int64_t destination) {
  return stage.machine.leader(source, place_levels) != stage.machine.leader(destination, place_levels);
}
bool moves(const StagePlan& stage, const ReleaseStep& step, const Transfer& transfer);

}  // namespace distal::core
