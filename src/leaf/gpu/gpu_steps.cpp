#include "leaf/gpu/gpu_steps.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "lang/index_role.h"
#include "leaf/gpu/gpu_box.h"
#include "leaf/product.h"

namespace distal::core {

namespace {

class StepsChooser {
 public:
  StepsChooser(const Compute& compute, const StorageOrders& orders) : compute_(compute), orders_(orders) {}

  std::optional<GpuSteps> choose() const {
    std::optional<GpuSteps> best;
    int least = 0;
    for (size_t left = 1; left < compute_.operands.size(); ++left) {
      for (size_t right = 1; right < compute_.operands.size(); ++right) {
        if (left == right || stored(left).size() < stored(right).size()) continue;
        std::optional<int> cost = cost_of(left, right);
        if (!cost || (best && *cost >= least)) continue;
        least = *cost;
        best = steps(left, right);
      }
    }
    return best;
  }

 private:
  bool has(size_t operand, int v) const { return has_index(compute_.operands[operand], v); }

  std::vector<int> stored(size_t operand) const {
    std::vector<int> out;
    for (int d : orders_[operand]) out.push_back(compute_.operands[operand].indices[static_cast<size_t>(d)]);
    return out;
  }

  // Whether the product of two operands still has the index: the output or another operand has it.
  bool stays(size_t left, size_t right, int v) const {
    for (size_t o = 0; o < compute_.operands.size(); ++o) {
      if (o != left && o != right && has(o, v)) return true;
    }
    return false;
  }

  // Fewer indices are less work. Sums along the first or the last index of the larger operand leave one matrix.
  std::optional<int> cost_of(size_t left, size_t right) const {
    std::set<int> all;
    int sum = -1, rows = 0, columns = 0;
    for (size_t o : {left, right}) {
      const std::vector<int> indices = stored(o);
      if (std::set<int>(indices.begin(), indices.end()).size() != indices.size()) return std::nullopt;  // a diagonal
      for (int v : indices) {
        const std::optional<IndexRole> role = role_of(stays(left, right, v), has(left, v), has(right, v));
        if (!role || *role == IndexRole::Batch) return std::nullopt;
        if (*role == IndexRole::Sum) sum = v;
        rows += *role == IndexRole::Row;
        columns += *role == IndexRole::Column;
        all.insert(v);
      }
    }
    if (sum < 0 || rows == 0 || columns == 0) return std::nullopt;
    const std::vector<int> larger = stored(left);
    return static_cast<int>(all.size()) * 4 + (larger.back() == sum ? 0 : larger.front() == sum ? 1 : 2);
  }

  GpuSteps steps(size_t left, size_t right) const {
    GpuSteps out{left, right, {}, compute_, {}, {}};
    out.rest.operands.clear();
    for (size_t o : {left, right}) {
      for (int v : stored(o)) {
        if (stays(left, right, v)) out.product_indices.push_back(v);
      }
    }
    auto add = [&](const LeafOperand& operand, std::vector<int> order, int number) {
      out.rest.operands.push_back(operand);
      out.rest_orders.push_back(std::move(order));
      out.rest_operands.push_back(number);
    };
    add(compute_.operands[0], orders_[0], 0);
    std::vector<int> identity(out.product_indices.size());
    std::iota(identity.begin(), identity.end(), 0);
    add({out.product_indices, 0}, identity, -1);
    for (size_t o = 1; o < compute_.operands.size(); ++o) {
      if (o != left && o != right) add(compute_.operands[o], orders_[o], static_cast<int>(o));
    }
    return out;
  }

  const Compute& compute_;
  const StorageOrders& orders_;
};

}  // namespace

std::optional<GpuSteps> choose_gpu_steps(const Compute& compute, const StorageOrders& orders, ElementType type) {
  if (is_integer(type) || !compute.accumulate || compute.terms.size() != 1) return std::nullopt;
  if (!compute.terms[0].only_at_zero.empty()) return std::nullopt;
  const std::optional<Product> product = product_of(compute.terms[0], type);
  if (!product || product->factors < 3) return std::nullopt;
  std::optional<GpuSteps> out = StepsChooser(compute, orders).choose();
  if (out) out->scale = product->scale;
  return out;
}

}  // namespace distal::core
