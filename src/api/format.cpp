#include "distal/format.h"

#include <fmt/format.h>

#include "api/calls.h"
#include "api/state.h"
#include "distal/error.h"

namespace distal {

namespace {

Int extent_of(const std::vector<Grid>& levels, size_t dimension) {
  if (levels.empty() || levels[0].extents().size() <= dimension) return Int(1);
  return levels[0].extents()[dimension];
}

// x, y, z, w, then d4, d5, ...: one letter each as long as possible, for the short form. A dimension that the tensor
// does not have becomes a number, so that the check of the module refuses it.
std::string dimension_name(int d, size_t dimensions) {
  static constexpr const char* kShort[] = {"x", "y", "z", "w"};
  if (d < 0 || static_cast<size_t>(d) >= dimensions) return std::to_string(d);
  return d < 4 ? kShort[d] : fmt::format("d{}", d);
}

core::MachineDimension to_core(const Role& role, size_t dimensions) {
  if (const auto* d = std::get_if<int>(&role.role())) return {core::Partition{dimension_name(*d, dimensions)}, {}};
  if (const auto* face = std::get_if<Face>(&role.role())) return {core::Fix{face->at.expr()}, {}};
  return {core::Broadcast{}, {}};
}

core::Distribution to_core(const Distribution& distribution, const TensorState& tensor) {
  core::Distribution out;
  size_t dimensions = tensor.dimensions.size();
  for (const std::vector<Role>& roles : distribution.levels()) out.levels.push_back(to_core(roles, dimensions));
  for (const Distribution::Cyclic& c : distribution.cyclic_dimensions()) {
    if (c.level < 0 || static_cast<size_t>(c.level) >= out.levels.size()) {
      throw Error(fmt::format("cyclic: there is no level {}; the distribution has {}", c.level, out.levels.size()),
                  at_call(tensor.label()));
    }
    deal_out(c, dimensions, out.levels[static_cast<size_t>(c.level)], at_call(tensor.label()));
  }
  return out;
}

}  // namespace

core::LevelDistribution to_core(const std::vector<Role>& roles, size_t dimensions) {
  core::LevelDistribution level;
  for (size_t d = 0; d < dimensions; ++d) {
    level.tensor_dimensions.push_back(dimension_name(static_cast<int>(d), dimensions));
  }
  for (const Role& role : roles) level.machine_dimensions.push_back(to_core(role, dimensions));
  return level;
}

void deal_out(const Distribution::Cyclic& cyclic, size_t dimensions, core::LevelDistribution& level,
              const core::SourceSpan& span) {
  std::string name = dimension_name(cyclic.tensor_dimension, dimensions);
  if (level.cyclic.emplace(name, cyclic.block.expr()).second) return;
  throw Error(fmt::format("cyclic gives the block of dimension {} twice", cyclic.tensor_dimension), span);
}

Machine::Machine(Grid grid, std::string name) : Machine(std::vector<Grid>{std::move(grid)}, std::move(name)) {}

Machine::Machine(std::vector<Grid> levels, std::string name)
    : x(extent_of(levels, 0)),
      y(extent_of(levels, 1)),
      z(extent_of(levels, 2)),
      levels_(std::move(levels)),
      name_(std::move(name)) {}

Machine::Machine(Processors processors, std::string name)
    : Machine(Grid(processors.count()).of(processors.processor()), std::move(name)) {
  processors_ = processors.count();
  has_grid_ = false;
}

Machine& Machine::as(Grid grid) { return as(std::vector<Grid>{std::move(grid)}); }

Machine& Machine::as(std::vector<Grid> levels) {
  if (!processors_) {
    std::string machine = name_.empty() ? "the machine" : "machine " + name_;
    throw Error(fmt::format("{} has a grid already; only Processors without one are given a grid", machine));
  }
  levels_ = std::move(levels);
  has_grid_ = true;
  x = extent_of(levels_, 0);
  y = extent_of(levels_, 1);
  z = extent_of(levels_, 2);
  return *this;
}

Machine::Level Machine::operator[](int level) const { return {*this, level}; }

Distribution::Distribution(Machine machine, std::vector<Role> roles, Memory memory)
    : machine_(std::move(machine)), levels_{std::move(roles)}, memory_(memory) {}

Distribution Distribution::hierarchical(Machine machine, std::vector<std::vector<Role>> levels, Memory memory) {
  Distribution out(std::move(machine), std::vector<Role>{}, memory);
  out.levels_ = std::move(levels);
  return out;
}

Distribution& Distribution::cyclic(int tensor_dimension, Int block, int level) {
  cyclic_.push_back({tensor_dimension, std::move(block), level});
  return *this;
}

Format::Format(Machine machine) : machine_(std::move(machine)) {}

Format::Format(std::vector<ModeFormat> modes, Distribution distribution)
    : modes_(std::move(modes)), distribution_(std::move(distribution)) {}

Format::Format(std::vector<ModeFormat> modes, std::vector<int> order, Distribution distribution)
    : modes_(std::move(modes)), order_(std::move(order)), distribution_(std::move(distribution)) {}

Format::Format(std::vector<ModeFormat> modes, std::vector<int> order)
    : modes_(std::move(modes)), order_(std::move(order)) {}

std::string key_of(const TensorState& tensor) { return fmt::format("#{}", fmt::ptr(&tensor)); }
std::string key_of(const IndexVar& variable) { return fmt::format("#{}", fmt::ptr(variable.identity())); }
std::string key_of(const Param::State& param) { return fmt::format("#{}", fmt::ptr(&param)); }

core::Grid to_core(const Grid& grid) {
  core::Grid out;
  for (const Int& e : grid.extents()) out.extents.push_back(e.expr());
  out.processor = grid.processor();
  return out;
}

std::string key_of(const Machine& machine) { return to_core(machine).name; }

core::Machine to_core(const Machine& machine) {
  core::Machine out;
  for (const Grid& g : machine.levels()) out.levels.push_back(to_core(g));
  if (machine.processors()) out.processors = machine.processors()->expr();
  out.is_free = !machine.has_grid();
  out.name = fmt::format("#{} {}", machine.name(), core::to_string(out));
  return out;
}

core::IndexVar to_core(const IndexVar& variable) { return {key_of(variable), {}}; }

std::vector<core::IndexVar> to_core(const std::vector<IndexVar>& variables) {
  std::vector<core::IndexVar> out;
  for (const IndexVar& v : variables) out.push_back(to_core(v));
  return out;
}

core::Tensor to_core(const TensorState& tensor) {
  core::Tensor out;
  out.name = key_of(tensor);
  for (const Int& e : tensor.dimensions) out.dimensions.push_back(e.expr());
  out.order = tensor.format.order();
  if (out.order.empty()) {
    for (size_t d = 0; d < tensor.dimensions.size(); ++d) out.order.push_back(static_cast<int>(d));
  }
  size_t modes = tensor.format.modes().size(), dimensions = tensor.dimensions.size();
  if (modes != 0 && modes != dimensions) {
    throw Error(fmt::format("the format has {} mode{}, and the tensor {} dimension{}", modes, modes == 1 ? "" : "s",
                            dimensions, dimensions == 1 ? "" : "s"),
                at_call(tensor.label()), "give one of them for each dimension, as in {Dense, Dense}");
  }
  if (const auto& distribution = tensor.format.distribution()) {
    out.machine = to_core(distribution->machine());
    out.distribution = to_core(*distribution, tensor);
    out.memory = distribution->memory();
  } else if (const auto& machine = tensor.format.machine()) {
    out.machine = to_core(*machine);
  }
  return out;
}

}  // namespace distal
