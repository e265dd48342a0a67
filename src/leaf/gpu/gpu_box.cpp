#include "leaf/gpu/gpu_box.h"

#include <algorithm>

namespace distal::core {

namespace {

bool contains(const std::vector<int>& all, int v) { return std::find(all.begin(), all.end(), v) != all.end(); }

void add_new(std::vector<int>& all, const std::vector<int>& more) {
  for (int v : more) {
    if (!contains(all, v)) all.push_back(v);
  }
}

// The indices of an operand in its storage order: the last one is contiguous.
std::vector<int> stored(const LeafOperand& operand, const std::vector<int>& order) {
  std::vector<int> out;
  for (int d : order) out.push_back(operand.indices[static_cast<size_t>(d)]);
  return out;
}

class BoxChooser {
 public:
  BoxChooser(const Compute& compute, const StorageOrders& orders) : compute_(compute) {
    for (size_t o = 0; o < compute.operands.size(); ++o) stored_.push_back(stored(compute.operands[o], orders[o]));
    add_new(outputs_, stored_[0]);
    std::vector<size_t> largest_last(stored_.size());
    for (size_t o = 0; o < stored_.size(); ++o) largest_last[o] = o;
    std::stable_sort(largest_last.begin(), largest_last.end(),
                     [&](size_t a, size_t b) { return stored_[a].size() > stored_[b].size(); });
    for (size_t o : largest_last) add_new(sums_, stored_[o]);
    for (const LeafTerm& t : compute.terms) add_new(sums_, t.only_at_zero);
    sums_.erase(std::remove_if(sums_.begin(), sums_.end(), [&](int v) { return contains(outputs_, v); }), sums_.end());
  }

  GpuBox choose() {
    GpuBox out;
    std::vector<int> all = outputs_;
    add_new(all, sums_);
    if (all.empty()) return out;
    const int inner =
        *std::min_element(all.begin(), all.end(), [&](int a, int b) { return cost_along(a) < cost_along(b); });
    // Numbers of outputs then have no gaps along the inner index.
    if (contains(outputs_, inner)) {
      outputs_.erase(std::find(outputs_.begin(), outputs_.end(), inner));
      outputs_.push_back(inner);
    }
    out.indices = outputs_;
    add_new(out.indices, sums_);
    out.outputs = outputs_.size();
    out.inner = out.position(inner);
    size_t most = 0;
    // A team adds along one row of memory; several rows at once would be far apart.
    for (size_t v = 0; v < out.outputs && !out.adds_in_teams(); ++v) {
      const size_t lack = operands_without(out.indices[v]);
      if (v == out.inner || lack < std::max<size_t>(most, 1)) continue;
      most = lack;
      out.reused = static_cast<int>(v);
    }
    return out;
  }

 private:
  // The cost of loading the elements of a point if neighbouring threads have neighbouring values of the index.
  double cost_along(int v) const {
    constexpr double kSame = 0.5, kNeighbour = 1, kFar = 16;
    double out = 0;
    for (size_t o = 0; o < stored_.size(); ++o) {
      const bool has = contains(stored_[o], v), written_once = o == 0 && !sums_.empty();
      if (!has) {
        out += o == 0 ? 0 : kSame;
      } else {
        const auto times = std::count(stored_[o].begin(), stored_[o].end(), v);
        out += written_once || (stored_[o].back() == v && times == 1) ? kNeighbour : kFar;
      }
    }
    return out;
  }

  // How many operands of the right side have indices, but not this one. 0 if no operand has it.
  size_t operands_without(int v) const {
    size_t out = 0, with = 0;
    for (size_t o = 1; o < stored_.size(); ++o) {
      if (contains(stored_[o], v)) {
        ++with;
      } else if (!stored_[o].empty()) {
        ++out;
      }
    }
    return with > 0 ? out : 0;
  }

  const Compute& compute_;
  std::vector<std::vector<int>> stored_;
  std::vector<int> outputs_, sums_;
};

}  // namespace

bool has_index(const LeafOperand& operand, int index) { return contains(operand.indices, index); }

size_t GpuBox::position(int index) const {
  return static_cast<size_t>(std::find(indices.begin(), indices.end(), index) - indices.begin());
}

GpuBox choose_gpu_box(const Compute& compute, const StorageOrders& orders) {
  return BoxChooser(compute, orders).choose();
}

}  // namespace distal::core
