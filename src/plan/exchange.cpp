#include "plan/exchange.h"

#include <algorithm>
#include <set>

namespace distal::core {

ExchangeVisitor::ExchangeVisitor(const Plan& plan, const Units& units)
    : plan_(plan), units_(units), bytes_(static_cast<size_t>(units.count), 0) {}

void ExchangeVisitor::fetch(const FetchStep& step) {
  for (const Fetch& f : step.fetches) {
    for (const FetchPiece& p : f.pieces) add(step.acquire->tensor, p.rect, p.source, f.place, f.place);
  }
}

void ExchangeVisitor::release(const ReleaseStep& step) {
  for (const Transfer& t : step.transfers) {
    bool arrives = t.kind == Transfer::Kind::Replicate;
    add(step.tensor, t.rect, t.source, t.destination, arrives ? t.destination : t.source);
  }
}

void ExchangeVisitor::add(int tensor, const Rect& rect, int64_t source, int64_t destination, int64_t counted_at) {
  if (units_.of(source) == units_.of(destination)) return;
  int64_t& bytes = bytes_[static_cast<size_t>(units_.of(counted_at))];
  bytes += rect.volume() * plan_.tensors[tensor].element_bytes;
  most_ = std::max(most_, bytes);
}

Units units_of(const Plan& plan, const StagePlan& stage) {
  Units units;
  units.levels = stage.machine.levels();
  int64_t processors = stage.machine.available;
  for (const AcquirePlan& a : stage.acquires) {
    units.levels = std::min(units.levels, a.acquire->place_levels);
    processors = std::max(processors, plan.tensors[a.tensor].owners.machine().available);
  }
  units.size = stage.machine.group_size[static_cast<size_t>(units.levels)];
  units.count = ceil_div(processors, units.size);
  return units;
}

std::vector<int64_t> exchanged_bytes(const Plan& plan, const StagePlan& stage, const Units& units) {
  ExchangeVisitor visitor(plan, units);
  walk(plan, stage, visitor);
  return visitor.bytes();
}

std::vector<int64_t> owned_elements(const Ownership& owners, const Units& units) {
  std::vector<int64_t> elements(static_cast<size_t>(units.count), 0);
  std::set<int64_t> counted;  // the first replicas of the pieces of this unit
  for (int64_t p = 0; p < owners.machine().processors; ++p) {
    if (p % units.size == 0) counted.clear();
    if (!owners.owns_any(p)) continue;
    if (units.size > 1 && !counted.insert(owners.first_replica(p)).second) continue;
    elements[static_cast<size_t>(units.of(p))] += owners.piece_of(p).volume();
  }
  return elements;
}

}  // namespace distal::core
