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

// The machine as a text names it, with the current values of its extents.
core::Machine declared(const Machine& machine) {
  core::Machine out;
  out.name = machine.name();
  for (const Grid& grid : machine.levels()) {
    core::Grid& level = out.levels.emplace_back();
    for (const Int& extent : grid.extents()) level.extents.emplace_back(extent.value());
    level.processor = grid.processor();
  }
  if (machine.processors()) out.processors = core::IntExpr(machine.processors()->value());
  out.is_free = !machine.has_grid();
  return out;
}

}  // namespace

Format Format::parse(const std::string& text, int dimensions, const std::optional<Machine>& machine,
                     const std::vector<Param>& params) {
  if (dimensions < 0) throw Error("a format of " + std::to_string(dimensions) + " dimensions");
  core::Module module;
  for (const Param& p : params) module.params.push_back({p.name(), core::IntExpr(p.value()), {}});
  if (machine) module.machines.push_back(declared(*machine));
  core::Tensor tensor;
  tensor.name = "the tensor";
  tensor.dimensions.assign(static_cast<size_t>(dimensions), core::IntExpr(1));
  core::Tensor parsed = core::parse_format(text, "format", module, tensor);
  bool is_in_place = parsed.machine && (!machine || parsed.machine->span.source);
  if (is_in_place) {
    throw Error("the format `" + text + "` writes its machine in place", {},
                "make a Machine, and pass it with the text");
  }
  return to_public(parsed, machine ? *machine : Machine(Grid(1)), named(params));
}

}  // namespace distal
