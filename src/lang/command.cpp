#include "lang/command.h"

#include <fmt/format.h>

namespace distal::core {

namespace {

template <class Named>
std::string text_of(const Named& named) {
  if constexpr (std::is_same_v<Named, IndexVar>) {
    return named.name;
  } else {
    return named.text;
  }
}

template <class Named>
std::string braced(const std::vector<Named>& names) {
  std::string out = "{";
  for (size_t i = 0; i < names.size(); ++i) out += (i > 0 ? ", " : "") + text_of(names[i]);
  return out + "}";
}

// Without braces where there is only one.
template <class Named>
std::string listed(const std::vector<Named>& names) {
  return names.size() == 1 ? text_of(names.front()) : braced(names);
}

struct Printer {
  std::string operator()(const SplitCommand& c) const {
    return fmt::format("split({}, {}, {}, {})", c.target.name, c.outer.name, c.inner.name, c.size.to_string());
  }
  std::string operator()(const DivideCommand& c) const {
    return fmt::format("divide({}, {}, {}, {})", c.target.name, c.outer.name, c.inner.name, c.parts.to_string());
  }
  std::string operator()(const CollapseCommand& c) const {
    return fmt::format("collapse({}, {}, {})", c.outer.name, c.inner.name, c.fused.name);
  }
  std::string operator()(const ReorderCommand& c) const { return fmt::format("reorder({})", braced(c.order)); }
  std::string operator()(const DistributeCommand& c) const {
    return fmt::format("distribute({}{})", listed(c.variables), c.onto ? ", " + to_string(*c.onto) : "");
  }
  std::string operator()(const DistributeOntoCommand& c) const {
    return fmt::format("distribute({}, {}, {}, {})", braced(c.targets), braced(c.distributed), braced(c.local),
                       to_string(c.onto));
  }
  std::string operator()(const CommunicateCommand& c) const {
    return fmt::format("communicate({}, {})", listed(c.tensors), c.at.name);
  }
  std::string operator()(const RotateCommand& c) const {
    return fmt::format("rotate({}, {}, {})", c.target.name, braced(c.by), c.result.name);
  }
  std::string operator()(const SubstituteCommand& c) const {
    return fmt::format("substitute({}, {})", braced(c.variables), c.kernel.text);
  }
  std::string operator()(const ParallelizeCommand& c) const {
    std::string how = c.race == Race::None ? "" : ", " + to_string(c.race);
    return fmt::format("parallelize({}{})", c.variable.name, how);
  }
  std::string operator()(const UnrollCommand& c) const {
    return fmt::format("unroll({}, {})", c.variable.name, c.factor.to_string());
  }
  std::string operator()(const VectorizeCommand& c) const { return fmt::format("vectorize({})", c.variable.name); }
  std::string operator()(const PrecomputeCommand& c) const {
    return fmt::format("precompute({}, {}, {}, {})", to_string(c.expr), braced(c.variables), braced(c.copies),
                       c.workspace.text);
  }
};

}  // namespace

std::string to_string(Race race) {
  switch (race) {
    case Race::None: return "none";
    case Race::Reduction: return "reduction";
    case Race::Atomics: return "atomics";
  }
  throw InternalError("unknown race");
}

std::string to_string(const GridRef& ref) {
  if (ref.notation) {
    GridRef onto = ref;
    onto.notation.reset();
    return to_string(*ref.notation) + " on " + to_string(onto);
  }
  if (ref.grid) return to_string(*ref.grid);
  return ref.level ? fmt::format("{}[{}]", ref.name.text, *ref.level) : ref.name.text;
}

std::string to_string(const Command& command) { return std::visit(Printer{}, command.action); }

}  // namespace distal::core
