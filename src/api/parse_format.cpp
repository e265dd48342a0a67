#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/state.h"
#include "distal/error.h"
#include "distal/format.h"
#include "lang/parse.h"

namespace distal {

namespace {

// The compiler's expression with the params that it names.
Int to_public(const core::IntExpr& expr, const std::vector<Param>& params) {
  std::set<std::string> names;
  expr.collect_names(names);
  Int out(0);
  for (const Param& p : params) {
    if (names.count(p.name()) > 0) out = make_int(expr, out, p);
  }
  return make_int(expr, out, Int(0));
}

class PublicFormat {
 public:
  PublicFormat(const core::Tensor& tensor, const Machine& machine, const std::vector<Param>& params)
      : tensor_(tensor), machine_(machine), params_(params) {}

  Format run() const {
    std::vector<ModeFormat> modes(tensor_.dimensions.size(), Dense);
    if (!tensor_.distribution) return Format(modes, tensor_.order);
    std::vector<std::vector<Role>> levels;
    for (const core::LevelDistribution& level : tensor_.distribution->levels) levels.push_back(roles(level));
    Distribution distribution = Distribution::hierarchical(machine_, std::move(levels), tensor_.memory);
    deal_out(distribution);
    return Format(modes, tensor_.order, distribution);
  }

 private:
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
  const std::vector<Param>& params_;
};

}  // namespace

Format Format::parse(const std::string& text, int dimensions, const std::optional<Machine>& machine,
                     const std::vector<Param>& params) {
  core::Module module;
  for (const Param& p : params) module.params.push_back({p.name(), core::IntExpr(p.value()), {}});
  if (machine) module.machines.push_back(to_core(*machine));
  core::Tensor tensor;
  tensor.name = "the tensor";
  tensor.dimensions.assign(static_cast<size_t>(dimensions), core::IntExpr(1));
  core::Tensor parsed = core::parse_format(text, "format", module, tensor);
  bool is_in_place = parsed.machine && (!machine || *parsed.machine != module.machines[0]);
  if (is_in_place) {
    throw Error("the format `" + text + "` writes its machine in place", {},
                "make a Machine, and pass it with the text");
  }
  return PublicFormat(parsed, machine ? *machine : Machine(Grid(1)), params).run();
}

}  // namespace distal
