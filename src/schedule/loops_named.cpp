#include <algorithm>

#include "schedule/checks.h"
#include "schedule/commands.h"

namespace distal::core {

namespace {

struct Named {
  std::vector<IndexVar> operator()(const SplitCommand& c) const { return {c.target}; }
  std::vector<IndexVar> operator()(const DivideCommand& c) const { return {c.target}; }
  std::vector<IndexVar> operator()(const CollapseCommand& c) const { return {c.outer, c.inner}; }
  std::vector<IndexVar> operator()(const ReorderCommand& c) const { return c.order; }
  std::vector<IndexVar> operator()(const DistributeCommand& c) const { return c.variables; }
  std::vector<IndexVar> operator()(const DistributeOntoCommand& c) const { return c.targets; }
  std::vector<IndexVar> operator()(const CommunicateCommand& c) const { return {c.at}; }
  std::vector<IndexVar> operator()(const RotateCommand& c) const { return {c.target}; }
  std::vector<IndexVar> operator()(const SubstituteCommand& c) const { return c.variables; }
  std::vector<IndexVar> operator()(const ParallelizeCommand& c) const { return {c.variable}; }
  std::vector<IndexVar> operator()(const UnrollCommand& c) const { return {c.variable}; }
  std::vector<IndexVar> operator()(const VectorizeCommand& c) const { return {c.variable}; }
  std::vector<IndexVar> operator()(const PrecomputeCommand& c) const { return c.variables; }
};

struct Made {
  std::vector<IndexVar> operator()(const SplitCommand& c) const { return {c.outer, c.inner}; }
  std::vector<IndexVar> operator()(const DivideCommand& c) const { return {c.outer, c.inner}; }
  std::vector<IndexVar> operator()(const CollapseCommand& c) const { return {c.fused}; }
  std::vector<IndexVar> operator()(const DistributeOntoCommand& c) const {
    std::vector<IndexVar> out = c.distributed;
    out.insert(out.end(), c.local.begin(), c.local.end());
    return out;
  }
  std::vector<IndexVar> operator()(const RotateCommand& c) const { return {c.result}; }
  template <class Mark>
  std::vector<IndexVar> operator()(const Mark&) const {
    return {};
  }
};

}  // namespace

std::vector<IndexVar> loops_named(const Command& command) { return std::visit(Named{}, command.action); }
bool names_any(const Command& command, const std::vector<IndexVar>& loops) {
  std::vector<IndexVar> named = loops_named(command);
  return std::any_of(named.begin(), named.end(), [&](const IndexVar& v) { return contains(loops, v); });
}
std::vector<IndexVar> loops_made(const Command& command) { return std::visit(Made{}, command.action); }

}  // namespace distal::core
