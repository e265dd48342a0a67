#include "engine/broadcast.h"

#include <algorithm>
#include <bit>

namespace distal::core {

namespace {

// Two receivers are as soon served by the source itself.
constexpr size_t kLeastReceivers = 3;
constexpr int64_t kMuchMore = 2;

int64_t elements_of(const Leg& leg) {
  int64_t elements = 0;
  for (const Delivery& d : leg.parts) elements += d.part.volume();
  return elements;
}

// Those that have more to send than kMuchMore times the most that a process receives.
std::vector<int> bottlenecks(const std::vector<Leg>& legs, const std::vector<int>& processes) {
  std::map<int, int64_t> sent, received;
  for (const Leg& leg : legs) {
    int64_t elements = elements_of(leg);
    sent[processes[static_cast<size_t>(leg.source)]] += elements;
    received[processes[static_cast<size_t>(leg.place)]] += elements;
  }
  int64_t most = 0;
  for (const auto& [process, elements] : received) most = std::max(most, elements);
  std::vector<int> out;
  for (const auto& [process, elements] : sent) {
    if (elements > kMuchMore * most) out.push_back(process);
  }
  return out;
}

// The legs with the same parts from the same source, in their order.
std::vector<std::vector<const Leg*>> alike(const std::vector<Leg>& legs) {
  std::map<int64_t, std::vector<std::vector<const Leg*>>> by_source;
  for (const Leg& leg : legs) {
    auto& groups = by_source[leg.source];
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g[0]->parts == leg.parts; });
    group == groups.end() ? groups.push_back({&leg}) : group->push_back(&leg);
  }
  std::vector<std::vector<const Leg*>> out;
  for (auto& [source, groups] : by_source) out.insert(out.end(), groups.begin(), groups.end());
  return out;
}

}  // namespace

Carriers broadcast_trees(const std::vector<Leg>& legs, const std::vector<int>& processes) {
  Carriers out;
  std::vector<int> slow = bottlenecks(legs, processes);
  if (slow.empty()) return out;
  auto process_of = [&](int64_t p) { return processes[static_cast<size_t>(p)]; };
  for (const auto& group : alike(legs)) {
    bool helps = std::find(slow.begin(), slow.end(), process_of(group[0]->source)) != slow.end();
    if (!helps || group.size() < kLeastReceivers) continue;
    // The source is number 0, its receivers 1, 2, …: in every round all that have it hand it on.
    for (size_t number = 2; number <= group.size(); ++number) {
      size_t carrier = number - std::bit_floor(number);
      if (carrier == 0) continue;
      const Leg &from = *group[carrier - 1], &to = *group[number - 1];
      if (process_of(from.place) != process_of(to.place)) out[{to.place, to.source}] = from.place;
    }
  }
  return out;
}

}  // namespace distal::core
