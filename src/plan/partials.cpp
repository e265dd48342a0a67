#include "plan/partials.h"

#include <algorithm>
#include <map>

namespace distal::core {

namespace {

constexpr int64_t kTreeFactor = 2;

bool is_at_destination(const MachineShape& machine, const PartialSum& sum, int64_t source) {
  return machine.leader(source, sum.place_levels) == machine.leader(sum.destination, sum.place_levels);
}

// Whether a destination would receive more than kTreeFactor times the most that a source sends.
bool has_bottleneck(const MachineShape& machine, const std::vector<PartialSum>& sums) {
  std::map<int64_t, int64_t> sent, received;
  for (const PartialSum& sum : sums) {
    int64_t elements = sum.rect.volume();
    for (int64_t p : sum.sources) {
      if (is_at_destination(machine, sum, p)) continue;
      sent[p] += elements;
      received[sum.destination] += elements;
    }
  }
  int64_t most = 0;
  for (const auto& [source, elements] : sent) most = std::max(most, elements);
  return std::any_of(received.begin(), received.end(), [&](const auto& r) { return r.second > kTreeFactor * most; });
}

class Combiner {
 public:
  Combiner(const MachineShape& machine, bool use_trees) : machine_(machine), use_trees_(use_trees) {}

  void add(const PartialSum& sum) {
    std::vector<int64_t> sources;
    for (int64_t p : sum.sources) {
      is_at_destination(machine_, sum, p) ? emit({sum.rect, p, sum.destination, sum.kind}) : sources.push_back(p);
    }
    for (int level = machine_.levels() - 1; level >= sum.outermost; --level) {
      std::map<int64_t, std::vector<int64_t>> groups;  // by leader
      for (int64_t p : sources) groups[machine_.leader(p, level)].push_back(p);
      sources.clear();
      for (auto& [leader, members] : groups) {
        if (leader == machine_.leader(sum.destination, level)) {
          combine_at(sum.destination, sum, members, sum.kind);
        } else {
          sources.push_back(members[0]);
          members.erase(members.begin());
          combine_at(sources.back(), sum, members, Transfer::Kind::CombinePartial);
        }
      }
    }
    combine_at(sum.destination, sum, sources, sum.kind);
  }

  std::vector<Transfer> transfers() && {
    for (auto& [source, last] : final_) transfers_.insert(transfers_.end(), last.begin(), last.end());
    return std::move(transfers_);
  }

 private:
  void combine_at(int64_t root, const PartialSum& sum, const std::vector<int64_t>& members, Transfer::Kind kind) {
    auto send = [&](size_t from, size_t to) {  // number 0 is the root, numbers 1, 2, … are the members
      if (to > 0) return emit({sum.rect, members[from - 1], members[to - 1], Transfer::Kind::CombinePartial});
      emit({sum.rect, members[from - 1], root, kind});
    };
    if (!use_trees_) {
      for (size_t number = 1; number <= members.size(); ++number) send(number, 0);
      return;
    }
    // Binomial tree: in each round, the odd multiples of the stride send to the number one stride below.
    for (size_t stride = 1; stride <= members.size(); stride *= 2) {
      for (size_t number = stride; number <= members.size(); number += 2 * stride) send(number, number - stride);
    }
  }

  void emit(Transfer t) {
    bool is_final = t.kind != Transfer::Kind::CombinePartial;
    (is_final ? final_[t.source] : transfers_).push_back(std::move(t));
  }

  const MachineShape& machine_;
  const bool use_trees_;
  std::vector<Transfer> transfers_;
  std::map<int64_t, std::vector<Transfer>> final_;  // by source, so that they arrive in processor order
};

}  // namespace

std::vector<Transfer> combine(const MachineShape& machine, const std::vector<PartialSum>& sums) {
  Combiner combiner(machine, has_bottleneck(machine, sums));
  for (const PartialSum& sum : sums) combiner.add(sum);
  return std::move(combiner).transfers();
}

}  // namespace distal::core
