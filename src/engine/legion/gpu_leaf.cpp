#include "engine/legion/gpu_leaf.h"

#include <fmt/format.h>

#include <algorithm>

#include "leaf/product.h"

namespace distal::core {

namespace {

bool contains(const std::vector<int>& all, int v) { return std::find(all.begin(), all.end(), v) != all.end(); }

// All indices that the terms depend on.
std::vector<int> indices_of(const Compute& compute) {
  std::vector<int> out;
  auto add = [&](const std::vector<int>& all) {
    for (int v : all) {
      if (!contains(out, v)) out.push_back(v);
    }
  };
  for (const LeafOperand& o : compute.operands) add(o.indices);
  for (const LeafTerm& t : compute.terms) add(t.only_at_zero);
  return out;
}

}  // namespace

bool has_gpus(const Machine& machine) {
  return !machine.levels.empty() && machine.levels.back().processor == Processor::GPU;
}

size_t LeafBox::position(int index) const {
  return static_cast<size_t>(std::find(indices.begin(), indices.end(), index) - indices.begin());
}

std::optional<LeafBox> leaf_box(const Stage& stage) {
  const IterationSpace<IntExpr>& space = stage.space;
  const LeafPart& root = leaf_of(stage).root;
  std::vector<Interval<IntExpr>> intervals;
  for (int v = 0; v < space.size(); ++v) {
    intervals.push_back(contains(root.loops, v) ? full(space.extents[static_cast<size_t>(v)])
                                                : point(IntExpr::name(space.names[static_cast<size_t>(v)])));
  }
  bounds(space, intervals);
  LeafBox out{indices_of(*root.compute()), {}};
  for (int v : out.indices) {
    out.ranges.push_back(intervals[static_cast<size_t>(v)]);
    if (!out.ranges.back().exact) return std::nullopt;
  }
  return out;
}

std::optional<double> gemm_factor(const Compute& compute, const LeafBox& box, ElementType type) {
  if (is_integer(type) || !compute.accumulate || compute.terms.size() != 1) return std::nullopt;
  const LeafTerm& term = compute.terms[0];
  std::optional<Product> product = product_of(term, type);
  if (!product || product->factors != 2 || !term.only_at_zero.empty()) return std::nullopt;
  bool rows = false, columns = false, sums = false;
  for (int v : box.indices) {
    bool output = contains(compute.operands[0].indices, v);
    bool left = contains(compute.operands[1].indices, v), right = contains(compute.operands[2].indices, v);
    if (output + left + right < 2) return std::nullopt;
    rows = rows || !right;
    columns = columns || !left;
    sums = sums || !output;
  }
  return rows && columns && sums ? std::optional<double>(product->scale) : std::nullopt;
}

const Compute& gpu_compute(const Stage& stage) {
  if (const Compute* compute = leaf_of(stage).root.compute()) return *compute;
  throw Error(
      fmt::format("the leaf of {} has workspaces, which leaves on GPUs cannot have", to_string(stage.source.statement)),
      stage.source.statement.span, "remove the precompute, or use a machine of CPUs", Error::Kind::Resources);
}

}  // namespace distal::core
