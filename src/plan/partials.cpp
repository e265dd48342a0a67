#include "plan/partials.h"

#include <algorithm>
#include <map>

namespace distal::core {

namespace {

constexpr int64_t kMuchMore = 2;

bool is_there(const MachineShape& machine, const PartialSum& sum, int64_t source) {
  return machine.leader(source, sum.place_levels) == machine.leader(sum.destination, sum.place_levels);
}

// Whether a destination would take in more than kMuchMore times the most that a source sends.
bool is_crowded(const MachineShape& machine, const std::vector<PartialSum>& sums) {
  std::map<int64_t, int64_t> sent, received;
  for (const PartialSum& sum : sums) {
    int64_t elements = sum.rect.volume();
    for (int64_t p : sum.sources) {
      if (is_there(machine, sum, p)) continue;
      sent[p] += elements;
      received[sum.destination] += elements;
    }
  }
  int64_t most = 0;
  for (const auto& [source, elements] : sent) most = std::max(most, elements);
  return std::any_of(received.begin(), received.end(), [&](const auto& r) { return r.second > kMuchMore * most; });
}

class Combiner {
 public:
  Combiner(const MachineShape& machine, bool crowded) : machine_(machine), crowded_(crowded) {}

  void add(const PartialSum& sum) {
    std::vector<int64_t> sources;
    for (int64_t p : sum.sources) {
      is_there(machine_, sum, p) ? put({sum.rect, p, sum.destination, sum.kind}) : sources.push_back(p);
    }
    for (int level = machine_.levels() - 1; level >= sum.outermost; --level) {
      std::map<int64_t, std::vector<int64_t>> parts;  // of the machine, by leader
      for (int64_t p : sources) parts[machine_.leader(p, level)].push_back(p);
      sources.clear();
      for (auto& [leader, members] : parts) {
        if (leader == machine_.leader(sum.destination, level)) {
          meet(sum, members, sum.destination, sum.kind);
        } else {
          sources.push_back(members[0]);
          members.erase(members.begin());
          meet(sum, members, sources.back(), Transfer::Kind::CombinePartial);
        }
      }
    }
    meet(sum, sources, sum.destination, sum.kind);
  }

  std::vector<Transfer> transfers() && {
    for (auto& [source, last] : last_) transfers_.insert(transfers_.end(), last.begin(), last.end());
    return std::move(transfers_);
  }

 private:
  void meet(const PartialSum& sum, const std::vector<int64_t>& members, int64_t at, Transfer::Kind kind) {
    auto send = [&](size_t from, size_t to) {  // by number: `at` is 0, its members 1, 2, …
      if (to > 0) return put({sum.rect, members[from - 1], members[to - 1], Transfer::Kind::CombinePartial});
      put({sum.rect, members[from - 1], at, kind});
    };
    if (!crowded_) {
      for (size_t number = 1; number <= members.size(); ++number) send(number, 0);
      return;
    }
    // In every round those at odd numbers send to the one before, and the others are numbered anew.
    for (size_t stride = 1; stride <= members.size(); stride *= 2) {
      for (size_t number = stride; number <= members.size(); number += 2 * stride) send(number, number - stride);
    }
  }

  void put(Transfer t) {
    bool on_the_way = t.kind == Transfer::Kind::CombinePartial;
    (on_the_way ? transfers_ : last_[t.source]).push_back(std::move(t));
  }

  const MachineShape& machine_;
  const bool crowded_;
  std::vector<Transfer> transfers_;
  std::map<int64_t, std::vector<Transfer>> last_;  // by source, so that they arrive in processor order
};

}  // namespace

std::vector<Transfer> combine(const MachineShape& machine, const std::vector<PartialSum>& sums) {
  Combiner combiner(machine, is_crowded(machine, sums));
  for (const PartialSum& sum : sums) combiner.add(sum);
  return std::move(combiner).transfers();
}

}  // namespace distal::core
