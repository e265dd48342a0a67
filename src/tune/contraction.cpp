#include "tune/contraction.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>

namespace distal::core {

namespace {

constexpr size_t kMostExact = 8;
// Orders of a subset that are kept, and of the whole product that are given.
constexpr size_t kMostKept = 4;
constexpr double kNear = 1.1;

using Indices = uint64_t;  // a bit for each index
constexpr size_t kMostIndices = 64;

Indices bits_of(const std::vector<int>& indices) {
  Indices bits = 0;
  for (int index : indices) bits |= Indices{1} << index;
  return bits;
}

class Extents {
 public:
  explicit Extents(const std::vector<int64_t>& extents) : extents_(extents) {}

  double product(Indices indices) const {
    double product = 1;
    for (; indices != 0; indices &= indices - 1) {
      product *= static_cast<double>(extents_[static_cast<size_t>(std::countr_zero(indices))]);
    }
    return product;
  }

 private:
  const std::vector<int64_t>& extents_;
};

double flops_of(const std::vector<Indices>& inputs, Indices result, const Extents& extents) {
  Indices all = result, sums = 0;
  for (Indices input : inputs) all |= input;
  sums = all & ~result;
  double points = extents.product(all), multiplications = static_cast<double>(inputs.size()) - 1;
  double least = points * (multiplications + (sums != 0 ? 1 : 0));
  for (size_t left = 0; left < inputs.size(); ++left) {
    for (size_t right = left + 1; right < inputs.size(); ++right) {
      Indices others = result;
      for (size_t o = 0; o < inputs.size(); ++o) others |= o == left || o == right ? 0 : inputs[o];
      Indices both = inputs[left] & inputs[right], rows = inputs[left] & ~both, columns = inputs[right] & ~both;
      Indices inner = both & ~others;
      if (rows == 0 || columns == 0 || inner == 0 || (all & ~(rows | columns | both)) != 0) continue;
      double finishing = multiplications - 1 + ((sums & ~inner) != 0 ? 1 : 0);
      least = std::min(least, 2 * points + finishing * points / extents.product(inner));
    }
  }
  return least;
}

// An order for some of the factors, as a tree.
struct Tree {
  std::vector<std::shared_ptr<const Tree>> inputs;  // none: a factor
  int factor = -1;
  Indices result = 0;
  double flops = 0, elements = 0;
};
using Subtree = std::shared_ptr<const Tree>;

class OrderFinder {
 public:
  explicit OrderFinder(const Product& product) : product_(product), extents_(product.extents) {
    output_ = bits_of(product.result);
    needed_ = output_ | bits_of(product.summed_last);
    for (size_t f = 0; f < product.factors.size(); ++f) {
      leaves_.push_back(std::make_shared<Tree>(Tree{{}, static_cast<int>(f), bits_of(product.factors[f])}));
    }
  }

  std::vector<ContractionOrder> find() {
    while (leaves_.size() > kMostExact) multiply_smallest();
    size_t all = (size_t{1} << leaves_.size()) - 1;
    best_.resize(all + 1);
    for (size_t subset = 1; subset <= all; ++subset) find_for(subset);
    std::vector<ContractionOrder> orders;
    double least = std::numeric_limits<double>::infinity();
    for (const Subtree& tree : best_[all]) least = std::min(least, tree->flops);
    for (const Subtree& tree : best_[all]) {
      if (tree->flops <= kNear * least) orders.push_back(order_of(tree));
    }
    std::stable_sort(orders.begin(), orders.end(),
                     [](const auto& a, const auto& b) { return a.elements < b.elements; });
    return orders;
  }

 private:
  Subtree multiply(const std::vector<Subtree>& inputs, Indices result) const {
    Tree tree{inputs, -1, result, 0, extents_.product(result)};
    std::vector<Indices> indices;
    for (const Subtree& input : inputs) {
      indices.push_back(input->result);
      tree.flops += input->flops;
      tree.elements += input->elements + extents_.product(input->result);
    }
    tree.flops += flops_of(indices, result, extents_);
    return std::make_shared<Tree>(std::move(tree));
  }

  // The indices that something outside of a subset of the leaves needs.
  Indices needed_outside(size_t subset) const {
    Indices needed = needed_;
    for (size_t l = 0; l < leaves_.size(); ++l) {
      if ((subset >> l & 1) == 0) needed |= leaves_[l]->result;
    }
    return needed;
  }

  void multiply_smallest() {
    std::tuple<double, size_t, size_t> best{std::numeric_limits<double>::infinity(), 0, 1};
    auto result_of = [&](size_t a, size_t b) {
      Indices needed = needed_outside(size_t{1} << a | size_t{1} << b);
      return (leaves_[a]->result | leaves_[b]->result) & needed;
    };
    for (size_t a = 0; a < leaves_.size(); ++a) {
      for (size_t b = a + 1; b < leaves_.size(); ++b) {
        double inputs = extents_.product(leaves_[a]->result) + extents_.product(leaves_[b]->result);
        best = std::min(best, {extents_.product(result_of(a, b)) - inputs, a, b});
      }
    }
    auto [growth, a, b] = best;
    leaves_[a] = multiply({leaves_[a], leaves_[b]}, result_of(a, b));
    leaves_.erase(leaves_.begin() + static_cast<std::ptrdiff_t>(b));
  }

  void find_for(size_t subset) {
    Indices used = 0;
    for (size_t l = 0; l < leaves_.size(); ++l) used |= (subset >> l & 1) != 0 ? leaves_[l]->result : 0;
    bool is_whole = subset + 1 == best_.size();
    Indices result = is_whole ? output_ : used & needed_outside(subset);
    if (std::has_single_bit(subset)) {
      const Subtree& leaf = leaves_[static_cast<size_t>(std::countr_zero(subset))];
      if (!is_whole) best_[subset].push_back(leaf);
      if (is_whole || result != leaf->result) best_[subset].push_back(multiply({leaf}, result));
      return;
    }
    std::vector<Subtree> inputs;
    for_each_partition(subset, subset, result, inputs, best_[subset]);
  }

  // Extends `inputs` by every partition of `left`, and keeps their products. The subset itself is not a part.
  void for_each_partition(size_t subset, size_t left, Indices result, std::vector<Subtree>& inputs,
                          std::vector<Subtree>& kept) const {
    if (left == 0) return keep(multiply(inputs, result), kept);
    size_t first = left & (~left + 1), rest = left & ~first;
    for (size_t others = rest;; others = (others - 1) & rest) {
      size_t part = first | others;
      if (part != subset) {
        for (const Subtree& tree : best_[part]) {
          inputs.push_back(tree);
          for_each_partition(subset, left & ~part, result, inputs, kept);
          inputs.pop_back();
        }
      }
      if (others == 0) break;
    }
  }

  // Keeps the orders that no other one beats in both flops and elements.
  static void keep(const Subtree& tree, std::vector<Subtree>& kept) {
    auto as_good = [](const Tree& a, const Tree& b) { return a.flops <= b.flops && a.elements <= b.elements; };
    for (const Subtree& other : kept) {
      if (as_good(*other, *tree)) return;
    }
    std::erase_if(kept, [&](const Subtree& other) { return as_good(*tree, *other); });
    auto place = std::upper_bound(kept.begin(), kept.end(), tree,
                                  [](const Subtree& a, const Subtree& b) { return a->flops < b->flops; });
    kept.insert(place, tree);
    if (kept.size() > kMostKept) kept.pop_back();
  }

  ContractionOrder order_of(const Subtree& tree) const {
    ContractionOrder order{{}, tree->flops, tree->elements};
    add_parts(*tree, order);
    return order;
  }

  // Returns the number of the input that the tree is.
  int add_parts(const Tree& tree, ContractionOrder& order) const {
    if (tree.inputs.empty()) return tree.factor;
    ContractionPart part;
    for (const Subtree& input : tree.inputs) part.inputs.push_back(add_parts(*input, order));
    for (size_t index = 0; index < product_.extents.size(); ++index) {
      if ((tree.result >> index & 1) != 0) part.result.push_back(static_cast<int>(index));
    }
    order.parts.push_back(std::move(part));
    return static_cast<int>(product_.factors.size() + order.parts.size()) - 1;
  }

  const Product& product_;
  Extents extents_;
  Indices output_ = 0, needed_ = 0;  // needed_: by all parts but the last
  std::vector<Subtree> leaves_;
  std::vector<std::vector<Subtree>> best_;  // by subset of the leaves
};

double elements_of(const std::vector<int>& indices, const std::vector<int64_t>& extents) {
  double elements = 1;
  for (int index : indices) elements *= static_cast<double>(extents[static_cast<size_t>(index)]);
  return elements;
}

}  // namespace

double kernel_flops(const std::vector<std::vector<int>>& inputs, const std::vector<int>& result,
                    const std::vector<int64_t>& extents) {
  if (extents.size() > kMostIndices) {
    std::vector<int> all(extents.size());
    std::iota(all.begin(), all.end(), 0);
    return static_cast<double>(inputs.size()) * elements_of(all, extents);
  }
  std::vector<Indices> bits;
  for (const std::vector<int>& input : inputs) bits.push_back(bits_of(input));
  return flops_of(bits, bits_of(result), Extents(extents));
}

ContractionOrder fused_order(const Product& product) {
  ContractionOrder order{{{{}, product.result}}, 0, elements_of(product.result, product.extents)};
  for (size_t f = 0; f < product.factors.size(); ++f) {
    order.parts[0].inputs.push_back(static_cast<int>(f));
    order.elements += elements_of(product.factors[f], product.extents);
  }
  order.flops = kernel_flops(product.factors, product.result, product.extents);
  return order;
}

std::vector<ContractionOrder> contraction_orders(const Product& product) {
  bool has_order = product.factors.size() > 1 && product.extents.size() <= kMostIndices;
  return has_order ? OrderFinder(product).find() : std::vector<ContractionOrder>{fused_order(product)};
}

}  // namespace distal::core
