#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/state.h"
#include "api/to_public.h"
#include "distal/error.h"
#include "distal/format.h"
#include "lang/parse.h"

namespace distal {

namespace {

// The params that the extents of a machine use.
std::vector<Param::State> params_of(const Machine& machine) {
  std::vector<Param::State> out;
  for (const Grid& grid : machine.levels()) {
    for (const Int& extent : grid.extents()) {
      for (const auto& param : extent.params()) out.push_back(*param);
    }
  }
  return out;
}

// What a text may name.
core::Module module_of(const std::optional<Machine>& machine, const std::vector<Param>& params) {
  core::Module out;
  std::map<std::string, int64_t> values;
  for (const Param& p : params) values[p.name()] = p.value();
  if (machine) {
    for (const Param::State& p : params_of(*machine)) values[p.name] = p.value;
    out.machines.push_back(to_core(*machine));
  }
  for (const auto& [name, value] : values) out.params.push_back({name, core::IntExpr(value), {}});
  return out;
}

}  // namespace

Format Format::parse(const std::string& text, int dimensions, const std::optional<Machine>& machine,
                     const std::vector<Param>& params) {
  core::Module module = module_of(machine, params);
  core::Tensor tensor;
  tensor.name = "the tensor";
  tensor.dimensions.assign(static_cast<size_t>(dimensions), core::IntExpr(1));
  core::Tensor parsed = core::parse_format(text, "format", module, tensor);
  bool is_in_place = parsed.machine && (!machine || *parsed.machine != module.machines[0]);
  if (is_in_place) {
    throw Error("the format `" + text + "` writes its machine in place", {},
                "make a Machine, and pass it with the text");
  }
  return to_public(parsed, machine ? *machine : Machine(Grid(1)), params);
}

}  // namespace distal
