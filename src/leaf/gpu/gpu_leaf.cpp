#include "leaf/gpu/gpu_leaf.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "leaf/blas_form.h"
#include "leaf/gpu/gpu_box.h"
#include "leaf/gpu/gpu_steps.h"
#include "leaf/product.h"
#include "support/overloaded.h"

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

namespace {

// Finds out whether symbolic intervals forget that an iteration is past the end of a tile, and does nothing.
class ForgottenEnds {
 public:
  ForgottenEnds(const IterationSpace<IntExpr>& space, const std::vector<Interval<IntExpr>>& intervals)
      : space_(space), intervals_(intervals) {}

  bool any() const {
    return std::any_of(space_.derivations.begin(), space_.derivations.end(), [&](const Derivation& d) {
      return std::visit(Overloaded{[&](const Fuse& f) { return tile_of(f.fused) != nullptr; },
                                   [&](const Rotation& r) { return tile_of(r.result) != nullptr; },
                                   [&](const Tile& t) { return has_end_inside(t.outer); }},
                        d);
    });
  }

 private:
  // The tiles of a variable that is made of them, if it does not run over all its values.
  const Tile* tile_of(int v) const {
    if (is_full(intervals_[static_cast<size_t>(v)], space_.extents[static_cast<size_t>(v)])) return nullptr;
    for (const Derivation& d : space_.derivations) {
      const auto* tile = std::get_if<Tile>(&d);
      if (tile && tile->parent == v) return tile;
    }
    return nullptr;
  }

  // Whether a variable may be past an end that is not its own: the number of a tile says only where the tile begins.
  bool has_end_inside(int v) const {
    const Tile* tile = tile_of(v);
    return tile && (tile_of(tile->inner) || has_end_inside(tile->outer));
  }

  const IterationSpace<IntExpr>& space_;
  const std::vector<Interval<IntExpr>>& intervals_;
};

}  // namespace

std::optional<LeafBox> leaf_box(const Stage& stage) {
  const IterationSpace<IntExpr>& space = stage.space;
  const LeafPart& root = leaf_of(stage).root;
  if (!root.compute()) return std::nullopt;
  std::vector<Interval<IntExpr>> intervals;
  for (int v = 0; v < space.size(); ++v) {
    intervals.push_back(contains(root.loops, v) ? full(space.extents[static_cast<size_t>(v)])
                                                : point(IntExpr::name(space.names[static_cast<size_t>(v)])));
  }
  bounds(space, intervals);
  if (ForgottenEnds(space, intervals).any()) return std::nullopt;
  LeafBox out{indices_of(*root.compute()), {}};
  for (int v : out.indices) {
    out.ranges.push_back(intervals[static_cast<size_t>(v)]);
    if (!out.ranges.back().exact) return std::nullopt;
  }
  return out;
}

namespace {

// By operand of the leaf: what `order_of` says of its acquire.
template <class OrderOf>
StorageOrders orders_by_operand(const Stage& stage, const OrderOf& order_of) {
  StorageOrders out;
  const Leaf& leaf = leaf_of(stage);
  const Compute* compute = leaf.root.compute();
  for (size_t o = 0; compute && o < compute->operands.size(); ++o) {
    out.push_back(order_of(leaf.accesses[static_cast<size_t>(compute->operands[o].number)].acquire));
  }
  return out;
}

const std::string& tensor_of(const Stage& stage, const LeafOperand& operand) {
  const LeafAccess& access = leaf_of(stage).accesses[static_cast<size_t>(operand.number)];
  return acquires_of(stage)[static_cast<size_t>(access.acquire)]->tensor;
}

}  // namespace

StorageOrders storage_orders(const Stage& stage, const Module& module) {
  const std::vector<const Acquire*> acquires = acquires_of(stage);
  return orders_by_operand(stage, [&](int acquire) {
    const std::string& name = acquires[static_cast<size_t>(acquire)]->tensor;
    return std::find_if(module.tensors.begin(), module.tensors.end(), [&](const Tensor& t) { return t.name == name; })
        ->order;
  });
}

StorageOrders storage_orders(const StagePlan& stage) {
  return orders_by_operand(*stage.stage,
                           [&](int acquire) { return stage.acquires[static_cast<size_t>(acquire)].order; });
}

namespace {

// The sequential loops around the leaf.
void add_loops(const Node& node, std::vector<int>& loops) {
  std::visit(Overloaded{[&](const Chain& n) { add_loops(*n.parts.back(), loops); },
                        [&](const Launch& n) { add_loops(*n.body, loops); },
                        [&](const Acquire& n) { add_loops(*n.body, loops); },
                        [&](const Loop& n) {
                          loops.push_back(n.variable);
                          add_loops(*n.body, loops);
                        },
                        [](const Init&) {}, [](const Leaf&) {}},
             node.value);
}

}  // namespace

bool overwrites_output(const Stage& stage) {
  if (stage.source.statement.op != AssignOp::Assign || !leaf_box(stage)) return false;
  const LeafAccess& access = leaf_of(stage).accesses[0];
  const Acquire& output = *acquires_of(stage)[static_cast<size_t>(access.acquire)];
  if (output.privilege != Privilege::Write || !output.exact) return false;
  std::set<std::string> names;
  const SymbolicRect& rect = output.rects[static_cast<size_t>(access.rect)];
  for (const auto* side : {&rect.lo, &rect.hi}) {
    for (const IntExpr& e : *side) e.collect_names(names);
  }
  // Each iteration of a sequential loop must have a rectangle of its own.
  std::vector<int> loops;
  add_loops(*stage.root, loops);
  return std::all_of(loops.begin(), loops.end(),
                     [&](int l) { return names.count(stage.space.names[static_cast<size_t>(l)]) > 0; });
}

std::vector<std::string> params_of(const LeafTerm& term) {
  std::vector<std::string> out;
  fold(term.expr, Overloaded{[](const Access&) {}, [](const Literal&) {},
                             [&](const ParamUse& param) { out.push_back(param.name); }, [](const Negate&) {},
                             [](const Binary&) {}});
  return out;
}

std::vector<std::string> params_as_numbers(const Statement& statement) {
  std::vector<std::string> out;
  for (const std::string& name : params_of({false, statement.rhs, {}, 0})) {
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  }
  return out;
}

Compute with_ones_for_params(const Compute& compute) {
  Compute out = compute;
  for (LeafTerm& t : out.terms) {
    t.expr = fold(t.expr, Overloaded{[](const Access& access) { return Expr(access); },
                                     [](const Literal& literal) { return Expr(literal); },
                                     [](const ParamUse& param) {
                                       return Expr(Literal{1, true, param.name, param.span});
                                     },
                                     [](const Negate&, const Expr& operand) { return Expr::negate(operand); },
                                     [](const Binary& binary, const Expr& left, const Expr& right) {
                                       return Expr::binary(binary.op, left, right);
                                     }});
  }
  return out;
}

GpuPlan choose_gpu(const Stage& stage, ElementType type, const StorageOrders& orders) {
  if (!leaf_of(stage).root.compute()) {
    return {.kernel = GpuKernel::Blocks, .no_library = "; no library, because it has workspaces"};
  }
  const Compute ones = with_ones_for_params(*leaf_of(stage).root.compute());
  const Compute* compute = &ones;
  if (!leaf_box(stage)) {
    return {.kernel = GpuKernel::Points, .no_library = "; no library, because its loops do not run over a box"};
  }
  GpuPlan out;
  const GpuBox box = choose_gpu_box(*compute, orders);
  out.overwrites = overwrites_output(stage);
  out.kernel = box.adds_in_teams() ? GpuKernel::Teams : GpuKernel::Neighbours;
  if (!box.indices.empty()) out.along = stage.space.names[static_cast<size_t>(box.inner_index())];
  if (compute->terms.size() > 1) return out;
  const LeafTerm& term = compute->terms[0];
  BlasForm form = blas_form(*compute, term, stage.space.names, type);
  if (form.name == "gemm" && term.only_at_zero.empty()) {
    out.blas_scale = product_of(term, type)->scale;
  } else if (!form.why_not.empty() && compute->accumulate) {
    out.no_library = "; no library, because " + form.why_not;
  }
  if (const auto steps = choose_gpu_steps(*compute, orders, type)) {
    auto tensor = [&](size_t operand) { return tensor_of(stage, compute->operands[operand]); };
    out.steps = GpuPlanSteps{tensor(steps->left), tensor(steps->right),
                             stage.space.names[static_cast<size_t>(steps->product_indices[0])]};
    out.no_library = "";
  }
  return out;
}

}  // namespace distal::core
