#include "engine/broadcast.h"

#include <algorithm>
#include <bit>

namespace distal::core {

namespace {

// With two receivers a relay saves no time.
constexpr size_t kLeastReceivers = 3;
constexpr int64_t kMuchMore = 2;

int64_t elements_of(const Route& route) {
  int64_t elements = 0;
  for (const Delivery& d : route.parts) elements += d.part.volume();
  return elements;
}

// The processes that send more than kMuchMore times what any process receives.
std::vector<int> bottlenecks(const std::vector<Route>& routes, const std::vector<int>& processes) {
  std::map<int, int64_t> sent, received;
  for (const Route& route : routes) {
    int64_t elements = elements_of(route);
    sent[processes[static_cast<size_t>(route.source)]] += elements;
    received[processes[static_cast<size_t>(route.place)]] += elements;
  }
  int64_t most = 0;
  for (const auto& [process, elements] : received) most = std::max(most, elements);
  std::vector<int> out;
  for (const auto& [process, elements] : sent) {
    if (elements > kMuchMore * most) out.push_back(process);
  }
  return out;
}

// Groups the routes that carry the same parts from the same source. A group keeps the order of `routes`.
std::vector<std::vector<const Route*>> group_alike(const std::vector<Route>& routes) {
  std::map<int64_t, std::vector<std::vector<const Route*>>> by_source;
  for (const Route& route : routes) {
    auto& groups = by_source[route.source];
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g[0]->parts == route.parts; });
    group == groups.end() ? groups.push_back({&route}) : group->push_back(&route);
  }
  std::vector<std::vector<const Route*>> out;
  for (auto& [source, groups] : by_source) out.insert(out.end(), groups.begin(), groups.end());
  return out;
}

}  // namespace

Relays broadcast_trees(const std::vector<Route>& routes, const std::vector<int>& processes) {
  Relays out;
  std::vector<int> slow = bottlenecks(routes, processes);
  if (slow.empty()) return out;
  auto process_of = [&](int64_t p) { return processes[static_cast<size_t>(p)]; };
  for (const auto& group : group_alike(routes)) {
    bool helps = std::find(slow.begin(), slow.end(), process_of(group[0]->source)) != slow.end();
    if (!helps || group.size() < kLeastReceivers) continue;
    // Number 0 is the source; its receivers are 1, 2, …. In every round all that have the data forward it.
    for (size_t number = 2; number <= group.size(); ++number) {
      size_t relay = number - std::bit_floor(number);
      if (relay == 0) continue;
      const Route &from = *group[relay - 1], &to = *group[number - 1];
      if (process_of(from.place) != process_of(to.place)) out[{to.place, to.source}] = from.place;
    }
  }
  return out;
}

}  // namespace distal::core
