#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/bounds.h"
#include "leaf/leaf_plan.h"
#include "plan/plan.h"
#include "program/program.h"

namespace distal::core {

// Whether a machine's leaves run on GPUs: the processors of its last level do.
bool has_gpus(const Machine& machine);

// The indices of a leaf and the range of each in one run. The leaf runs over all combinations of their values.
struct LeafBox {
  std::vector<int> indices;
  std::vector<Interval<IntExpr>> ranges;  // by index

  size_t position(int index) const;
};

// The box of a stage's leaf. Nothing if the leaf has workspaces, or if its loops do not run over a box for every size
// and processor.
std::optional<LeafBox> leaf_box(const Stage& stage);

// The storage orders of a leaf's operands, outermost dimension first.
using StorageOrders = std::vector<std::vector<int>>;
StorageOrders storage_orders(const Stage& stage, const Module& module);
StorageOrders storage_orders(const StagePlan& stage);

// What carries out the leaf of a stage on a GPU, at all sizes.
GpuPlan choose_gpu(const Stage& stage, ElementType type, const StorageOrders& orders);

// Whether each run of the leaf computes all elements of the output that it acquires, completely. Then it overwrites
// them, whatever their old values; otherwise it adds to them.
bool overwrites_output(const Stage& stage);

// The params that stand on the right side as numbers, each once. The numbers that a GPU's leaf takes end with their
// values; emitted nests have no argument for them.
std::vector<std::string> params_as_numbers(const Statement& statement);
inline bool has_params_as_numbers(const Statement& statement) { return !params_as_numbers(statement).empty(); }

// The assignment with 1 in place of each param, so that product_of can tell whether a term is a product.
Compute with_ones_for_params(const Compute& compute);
// The params of a term, each as often as it occurs. If the term is a product, they are factors of it.
std::vector<std::string> params_of(const LeafTerm& term);

}  // namespace distal::core
