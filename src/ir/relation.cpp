#include "ir/relation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace distal::core {

namespace {

std::string list(const std::vector<IndexVar>& variables) {
  std::vector<std::string> names;
  for (const IndexVar& v : variables) names.push_back(v.name);
  return fmt::format("{{{}}}", fmt::join(names, ", "));
}

struct Printer {
  std::string operator()(const SplitRelation& r) const {
    return fmt::format("split({}, {}, {}, {})", r.parent.name, r.outer.name, r.inner.name, r.size.to_string());
  }
  std::string operator()(const DivideRelation& r) const {
    return fmt::format("divide({}, {}, {}, {})", r.parent.name, r.outer.name, r.inner.name, r.parts.to_string());
  }
  std::string operator()(const CollapseRelation& r) const {
    return fmt::format("collapse({}, {}, {})", r.outer.name, r.inner.name, r.fused.name);
  }
  std::string operator()(const RotateRelation& r) const {
    return fmt::format("rotate({}, {}, {})", r.target.name, list(r.by), r.result.name);
  }
  std::string operator()(const DistributeRelation& r) const {
    std::string onto = r.level ? fmt::format(", level {}", *r.level) : "";
    if (r.dimension) onto += fmt::format(" dimension {}", *r.dimension);
    return fmt::format("distribute({}{})", r.variable.name, onto);
  }
  std::string operator()(const HoldRelation& r) const {
    return fmt::format("hold(level {} dimension {} at {})", r.level, r.dimension, r.face.to_string());
  }
  std::string operator()(const EverywhereRelation& r) const {
    return fmt::format("everywhere(level {} dimension {})", r.level, r.dimension);
  }
  std::string operator()(const CommunicateRelation& r) const {
    return fmt::format("communicate({}, {})", r.tensor.text, r.at.name);
  }
  std::string operator()(const SubstituteRelation& r) const {
    return fmt::format("substitute({}, {})", list(r.variables), r.kernel.text);
  }
  std::string operator()(const ParallelizeRelation& r) const {
    std::string how = r.race == Race::None ? "" : ", " + to_string(r.race);
    return fmt::format("parallelize({}{})", r.variable.name, how);
  }
  std::string operator()(const UnrollRelation& r) const {
    return fmt::format("unroll({}, {})", r.variable.name, r.factor.to_string());
  }
  std::string operator()(const VectorizeRelation& r) const { return fmt::format("vectorize({})", r.variable.name); }
  std::string operator()(const PrecomputeRelation& r) const {
    return fmt::format("precompute({}, {}, {})", r.workspace.text, list(r.originals), list(r.copies));
  }
};

}  // namespace

IndexVar PrecomputeRelation::copy_of(const IndexVar& v) const {
  auto at = std::find(originals.begin(), originals.end(), v);
  return at == originals.end() ? v : copies[static_cast<size_t>(at - originals.begin())];
}

std::string to_string(const Relation& relation) { return std::visit(Printer{}, relation); }

}  // namespace distal::core
