#include "leaf/leaf.h"

#include "leaf/compile.h"
#include "leaf/gemm.h"
#include "leaf/generate.h"
#include "leaf/interpret.h"

namespace distal::core {

namespace {

// Compiling takes about half a second; walking this many points by interpretation takes less.
constexpr double kTinyPoints = 2e6;

double points_of(const StagePlan& stage) {
  double points = 1;
  for (const IndexVar& v : variables(stage.stage->source.statement)) {
    points *= static_cast<double>(stage.space.extents[find_variable(stage.stage->space, v.name)]);
  }
  return points;
}

}  // namespace

std::unique_ptr<LeafKernel> make_leaf(const StagePlan& stage, ElementType type, LeafChoice choice) {
  switch (choice) {
    case LeafChoice::Interpreted: return make_interpreted_leaf(stage, type);
    case LeafChoice::Generated: return make_generated_leaf(stage, type);
    case LeafChoice::Automatic: break;
  }
  if (leaf_of(*stage.stage).gemm) return make_gemm_leaf(stage, type);
  bool parallel = !leaf_of(*stage.stage).parallel.empty();
  bool tiny = points_of(stage) <= kTinyPoints && !parallel;
  return tiny ? make_interpreted_leaf(stage, type) : make_generated_leaf(stage, type);
}

}  // namespace distal::core
