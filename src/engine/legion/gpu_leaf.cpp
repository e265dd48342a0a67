#include "engine/legion/gpu_leaf.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/index_role.h"
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
  auto indices = sort_by_role<std::vector<int>>(box.indices, [&](int v, int tensor) {
    return contains(compute.operands[static_cast<size_t>(tensor)].indices, v);
  });
  return indices && indices->is_matrix_product() ? std::optional<double>(product->scale) : std::nullopt;
}

const Compute& gpu_compute(const Stage& stage) {
  if (const Compute* compute = leaf_of(stage).root.compute()) return *compute;
  throw Error(
      fmt::format("the leaf of {} has workspaces, which leaves on GPUs cannot have", to_string(stage.source.statement)),
      stage.source.statement.span, "remove the precompute, or use a machine of CPUs", Error::Kind::Resources);
}

}  // namespace distal::core
