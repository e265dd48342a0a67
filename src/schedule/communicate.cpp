#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/checks.h"
#include "schedule/commands.h"

namespace distal::core {

namespace {

// The tensors of the nest in the order of first appearance, without workspaces.
std::vector<std::string> tensors_of(const Nest& nest) {
  std::vector<std::string> tensors;
  auto add = [&](const std::string& name) {
    bool known = std::find(tensors.begin(), tensors.end(), name) != tensors.end();
    if (!known && !workspace_of(nest.relations, name)) tensors.push_back(name);
  };
  for (const Assignment& a : assignments(nest.body)) {
    add(a.lhs.tensor);
    for (const Access& access : accesses(a.rhs)) add(access.tensor);
  }
  return tensors;
}

Nest communicate(const Nest& nest, const ScheduleContext&, const std::vector<Name>& named, const IndexVar& at) {
  std::vector<std::string> tensors = tensors_of(nest);
  bool is_swapped = named.size() == 1 && nest.has_loop({named[0].text, named[0].span}) && !nest.has_loop(at) &&
                    std::find(tensors.begin(), tensors.end(), at.name) != tensors.end();
  if (is_swapped) {
    throw Error(fmt::format("communicate: {} is a tensor, and {} a loop", at.name, named[0].text), at.span,
                fmt::format("the tensor comes first: write communicate({}, {})", at.name, named[0].text));
  }
  require_loop(nest, at, "communicate");
  Nest out = nest;
  for (const Name& tensor : named) {
    if (workspace_of(nest.relations, tensor.text)) {
      refuse(nest, tensor.span,
             fmt::format("communicate: {} is a private workspace of each processor, and is not communicated",
                         tensor.text));
    }
    if (std::find(tensors.begin(), tensors.end(), tensor.text) == tensors.end()) {
      refuse(nest, tensor.span,
             fmt::format("communicate: tensor {} is not in this statement; its tensors are {}", tensor.text,
                         fmt::join(tensors, ", ")));
    }
    if (const SubstituteRelation* s = substitution_of(nest)) {
      require_outside_kernel(nest, *s, {tensor, at}, at.span);
    }
    // A later communicate of a tensor replaces an earlier one.
    std::erase_if(out.relations, [&](const Relation& r) {
      const auto* old = std::get_if<CommunicateRelation>(&r);
      return old && old->tensor.text == tensor.text;
    });
    out.relations.push_back(CommunicateRelation{tensor, at});
  }
  return out;
}

}  // namespace

CommandRow communicate_command() {
  CommandRow row = command("communicate", "communicate({A, B}, k)", communicate, names(), loop());
  row.at_outermost_nest = true;
  return row;
}

}  // namespace distal::core
