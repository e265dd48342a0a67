#include "api/to_public.h"

#include <map>
#include <set>

#include "api/state.h"

namespace distal {

namespace {

class PublicFormat {
 public:
  PublicFormat(const core::Tensor& tensor, const Machine& machine, const NamedParams& params)
      : tensor_(tensor), machine_(machine), params_(params) {}

  Format run() const {
    std::vector<ModeFormat> modes(tensor_.dimensions.size(), Dense);
    if (!tensor_.machine) return Format(modes, tensor_.order);
    if (!tensor_.distribution) return Format(modes, tensor_.order, on_first_processor());
    std::vector<std::vector<Role>> levels;
    for (const core::LevelDistribution& level : tensor_.distribution->levels) levels.push_back(roles(level));
    Distribution distribution = Distribution::hierarchical(machine_, std::move(levels), tensor_.memory);
    deal_out(distribution);
    return Format(modes, tensor_.order, distribution);
  }

 private:
  Distribution on_first_processor() const {
    std::vector<std::vector<Role>> levels;
    for (const Grid& g : machine_.levels()) levels.emplace_back(g.extents().size(), Role(Face{Int(0)}));
    return Distribution::hierarchical(machine_, std::move(levels), tensor_.memory);
  }

  std::vector<Role> roles(const core::LevelDistribution& level) const {
    std::vector<Role> out;
    for (const core::MachineDimension& d : level.machine_dimensions) {
      if (const auto* cut = std::get_if<core::Partition>(&d.role)) {
        out.emplace_back(static_cast<int>(level.dimension_of(*cut)));
      } else if (const auto* fix = std::get_if<core::Fix>(&d.role)) {
        out.emplace_back(Face{to_public(fix->face, params_)});
      } else {
        out.emplace_back(Everywhere{});
      }
    }
    return out;
  }

  void deal_out(Distribution& distribution) const {
    const std::vector<core::LevelDistribution>& levels = tensor_.distribution->levels;
    for (size_t l = 0; l < levels.size(); ++l) {
      for (const auto& [name, block] : levels[l].cyclic) {
        size_t dimension = levels[l].dimension_of(core::Partition{name});
        distribution.cyclic(static_cast<int>(dimension), to_public(block, params_), static_cast<int>(l));
      }
    }
  }

  const core::Tensor& tensor_;
  const Machine& machine_;
  const NamedParams& params_;
};

}  // namespace

NamedParams named(const std::vector<Param>& params) {
  NamedParams out;
  for (const Param& p : params) out.emplace_back(p.name(), p);
  return out;
}

Int to_public(const core::IntExpr& expr, const NamedParams& params) {
  std::set<std::string> names;
  expr.collect_names(names);
  std::map<std::string, core::IntExpr> keys;
  Int out(0);
  for (const auto& [name, p] : params) {
    if (names.count(name) == 0) continue;
    keys.emplace(name, Int(p).expr());
    out = make_int(out.expr(), out, p);
  }
  return make_int(expr.substitute(keys), out, Int(0));
}

std::vector<Grid> to_public(const std::vector<core::Grid>& levels, const NamedParams& params) {
  std::vector<Grid> out;
  for (const core::Grid& g : levels) {
    std::vector<Int> extents;
    for (const core::IntExpr& e : g.extents) extents.push_back(to_public(e, params));
    out.push_back(Grid(std::move(extents)).of(g.processor));
  }
  return out;
}

Machine to_public(const core::Machine& machine, const NamedParams& params, const std::string& name) {
  if (!machine.processors) return Machine(to_public(machine.levels, params), name);
  Machine made(Processors(to_public(*machine.processors, params)).of(core::kind_of(machine)), name);
  return machine.is_free ? made : made.as(to_public(machine.levels, params));
}

Format to_public(const core::Tensor& tensor, const Machine& machine, const NamedParams& params) {
  return PublicFormat(tensor, machine, params).run();
}

}  // namespace distal
