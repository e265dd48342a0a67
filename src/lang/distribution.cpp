#include "lang/distribution.h"

#include <algorithm>

namespace distal::core {

namespace {

bool is_short(const MachineDimension& dimension) {
  const auto* fix = std::get_if<Fix>(&dimension.role);
  if (fix != nullptr) return fix->face.is_constant() && fix->face.value() >= 0 && fix->face.value() <= 9;
  const auto* partition = std::get_if<Partition>(&dimension.role);
  return partition == nullptr || partition->name.size() == 1;
}

// Whether the short form, one character per dimension, can say it.
bool is_short(const LevelDistribution& level) {
  return std::all_of(level.tensor_dimensions.begin(), level.tensor_dimensions.end(),
                     [](const std::string& name) { return name.size() == 1; }) &&
         std::all_of(level.machine_dimensions.begin(), level.machine_dimensions.end(),
                     [](const MachineDimension& dimension) { return is_short(dimension); });
}

std::string text_of(const MachineDimension& dimension) {
  if (const auto* partition = std::get_if<Partition>(&dimension.role)) return partition->name;
  if (const auto* fix = std::get_if<Fix>(&dimension.role)) {
    // In parentheses a param is never taken for the tensor dimension of the same name.
    return fix->face.is_constant() ? fix->face.to_string() : "(" + fix->face.to_string() + ")";
  }
  return "*";
}

std::string cyclic_text(const std::map<std::string, IntExpr>& cyclic) {
  std::string out;
  for (const auto& [name, block] : cyclic) {
    out += out.empty() ? " cyclic(" : ", ";
    out += block.is_constant(1) ? name : name + " = " + block.to_string();
  }
  return out.empty() ? out : out + ")";
}

std::string print(const LevelDistribution& level, bool short_form) {
  std::string separator = short_form ? "" : ", ";
  std::string left, right;
  for (const std::string& name : level.tensor_dimensions) left += (left.empty() ? "" : separator) + name;
  for (const MachineDimension& d : level.machine_dimensions) right += (right.empty() ? "" : separator) + text_of(d);
  return (left.empty() ? "" : left + " ") + "-> " + right + cyclic_text(level.cyclic);
}

}  // namespace

size_t LevelDistribution::dimension_of(const Partition& partition) const {
  auto name = std::find(tensor_dimensions.begin(), tensor_dimensions.end(), partition.name);
  return static_cast<size_t>(name - tensor_dimensions.begin());
}

std::optional<IntExpr> LevelDistribution::block_of(const Partition& partition) const {
  auto block = cyclic.find(partition.name);
  return block == cyclic.end() ? std::nullopt : std::optional(block->second);
}

std::string to_string(const LevelDistribution& level) { return print(level, is_short(level)); }

std::string to_string(const Distribution& distribution) {
  // All levels in one form: that leaves only one way to cut the list between two arrows.
  bool short_form = std::all_of(distribution.levels.begin(), distribution.levels.end(),
                                [](const LevelDistribution& level) { return is_short(level); });
  std::string out;
  for (const LevelDistribution& level : distribution.levels) {
    out += (out.empty() ? "" : ", ") + print(level, short_form);
  }
  return out;
}

}  // namespace distal::core
