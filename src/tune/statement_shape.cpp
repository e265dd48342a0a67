#include "tune/statement_shape.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "lang/ranges.h"
#include "plan/ownership.h"
#include "schedule/expand_updates.h"
#include "tune/term_products.h"

namespace distal::core {

namespace {

// The accesses of each tensor of a statement, the output's first, each access once.
std::vector<std::vector<Access>> accesses_by_tensor(const Statement& statement) {
  std::vector<std::vector<Access>> out{{statement.lhs}};
  for (const Access& access : accesses(statement.rhs)) {
    if (access.tensor == statement.lhs.tensor) continue;  // the output may be read only as it is written
    auto of_tensor = std::find_if(out.begin(), out.end(),
                                  [&](const std::vector<Access>& other) { return other[0].tensor == access.tensor; });
    if (of_tensor == out.end()) of_tensor = out.insert(out.end(), std::vector<Access>{});
    if (std::find(of_tensor->begin(), of_tensor->end(), access) == of_tensor->end()) of_tensor->push_back(access);
  }
  return out;
}

size_t distinct_indices(const Access& access) {
  return std::set<IndexVar>(access.indices.begin(), access.indices.end()).size();
}

class ShapeMaker {
 public:
  ShapeMaker(const Module& module, const Statement& statement, const Bindings& params)
      : module_(module), statement_(statement), params_(params) {}

  StatementShape make() {
    std::map<std::string, IntExpr> extents = variable_extents(module_, statement_);
    for (const IndexVar& v : variables(statement_)) {
      shape_.indices.push_back(v.name);
      shape_.extents.push_back(extents.at(v.name).evaluate(params_));
    }
    for (const std::vector<Access>& of_tensor : accesses_by_tensor(statement_)) {
      shape_.tensors.push_back(tensor_of(of_tensor));
      if (shape_.tensors.size() == 1 && reads_output(statement_)) add_old_output();
    }
    double points = 1;
    for (int64_t extent : shape_.extents) points *= static_cast<double>(std::max<int64_t>(extent, 1));
    shape_.accumulates = accumulates(statement_.op);
    shape_.flops_per_point = kernel_flops(statement_, shape_.extents) / points;
    return std::move(shape_);
  }

 private:
  ShapeTensor tensor_of(const std::vector<Access>& accesses) const {
    auto fewer = [](const Access& a, const Access& b) { return distinct_indices(a) < distinct_indices(b); };
    const Access& followed = *std::max_element(accesses.begin(), accesses.end(), fewer);
    ShapeTensor tensor{followed.tensor, {}, size_of(module_.type)};
    bool is_simple = accesses.size() == 1 && !followed.is_shifted();
    for (const IndexVar& v : followed.indices) {
      bool is_repeated = std::find(tensor.indices.begin(), tensor.indices.end(), index_of(v)) != tensor.indices.end();
      tensor.indices.push_back(is_repeated ? kNoOwnIndex : index_of(v));
      is_simple = is_simple && !is_repeated;
    }
    if (is_simple) return tensor;
    for (const Access& access : accesses) {
      ShapeAccess& made = tensor.accesses.emplace_back();
      for (size_t d = 0; d < access.indices.size(); ++d) {
        made.indices.push_back(index_of(access.indices[d]));
        made.offsets.push_back(access.offset(d).evaluate(params_));
      }
    }
    for (const IntExpr& extent : module_.find_tensor(tensor.name)->dimensions)
      tensor.extents.push_back(extent.evaluate(params_));
    return tensor;
  }

  int index_of(const IndexVar& v) const {
    auto index = std::find(shape_.indices.begin(), shape_.indices.end(), v.name);
    return static_cast<int>(index - shape_.indices.begin());
  }

  void add_old_output() {
    ShapeTensor old = shape_.tensors[0];
    old.name = old_output_name(module_, old.name);
    old.is_old_output = true;
    shape_.tensors.push_back(std::move(old));
  }

  const Module& module_;
  const Statement& statement_;
  const Bindings& params_;
  StatementShape shape_;
};

// What every processor owns of a tensor. Processors are numbered row by row.
std::shared_ptr<const GivenPieces> pieces_of(const Tensor& tensor, const Bindings& params, int64_t processors,
                                             bool is_output) {
  Ownership owners(tensor, params);
  auto pieces = std::make_shared<GivenPieces>();
  double elements = 0;
  for (int64_t p = 0; p < processors; ++p) {
    bool owns = p < owners.machine().processors && owners.owns_any(p);
    std::vector<std::vector<Run>>& runs = pieces->runs.emplace_back(tensor.dimensions.size());
    pieces->owns_scalar.push_back(owns);
    if (is_output && owners.has_replicas()) pieces->first_replica.push_back(owns ? owners.first_replica(p) : p);
    if (!owns) continue;
    HomePiece piece = owners.piece_of(p);
    for (size_t d = 0; d < runs.size(); ++d) runs[d] = *piece.runs[d];
    elements += static_cast<double>(piece.volume());
  }
  pieces->average_elements = elements / static_cast<double>(processors);
  return pieces;
}

// The dimensions of a tensor that are dealt out, with their indices.
void add_cyclic_cuts(const Tensor& tensor, const ShapeTensor& access, const Bindings& params,
                     std::vector<CyclicCut>& cuts) {
  if (!tensor.distribution) return;
  std::vector<int> times(tensor.dimensions.size(), 0);  // that a dimension is cut
  std::vector<CyclicCut> found;
  for (size_t l = 0; l < tensor.distribution->levels.size(); ++l) {
    const LevelDistribution& level = tensor.distribution->levels[l];
    for (size_t m = 0; m < level.machine_dimensions.size(); ++m) {
      const auto* partition = std::get_if<Partition>(&level.machine_dimensions[m].role);
      if (partition == nullptr) continue;
      size_t dimension = level.dimension_of(*partition);
      ++times[dimension];
      std::optional<IntExpr> block = level.block_of(*partition);
      int64_t parts = tensor.machine->levels[l].extents[m].evaluate(params);
      if (block) found.push_back({static_cast<int>(dimension), parts, block->evaluate(params)});
    }
  }
  for (CyclicCut cut : found) {
    if (times[static_cast<size_t>(cut.index)] > 1) continue;  // a schedule cannot follow cuts by several levels
    cut.index = access.indices[static_cast<size_t>(cut.index)];
    if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end()) cuts.push_back(cut);
  }
}

}  // namespace

StatementShape shape_of(const Module& module, const Statement& statement, const Bindings& params) {
  return ShapeMaker(module, statement, params).make();
}

StatementShape shape_with_formats(const Module& module, const Statement& statement, const Bindings& params,
                                  int64_t processors) {
  StatementShape shape = shape_of(module, statement, params);
  shape.processors = processors;
  for (int64_t& extent : shape.extents) extent = std::max<int64_t>(extent, 1);  // nothing to do; any grid will do
  for (ShapeTensor& tensor : shape.tensors) {
    const Tensor& declared = *module.find_tensor(tensor.is_old_output ? statement.lhs.tensor : tensor.name);
    if (has_free_format(declared)) continue;
    bool is_output = &tensor == &shape.tensors[0];
    tensor.given = pieces_of(declared, params, processors, is_output);
    if (shape.may_be_dealt_out()) add_cyclic_cuts(declared, tensor, params, shape.cyclic_cuts);
  }
  return shape;
}

}  // namespace distal::core
