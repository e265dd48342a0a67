#include "program/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace distal::core {

namespace {

template <class F>
void walk(const NodePtr& node, const F& f) {
  f(*node);
  std::visit(
      [&](const auto& n) {
        using T = std::decay_t<decltype(n)>;
        if constexpr (std::is_same_v<T, Chain>) {
          for (const NodePtr& part : n.parts) walk(part, f);
        } else if constexpr (!std::is_same_v<T, Leaf> && !std::is_same_v<T, Init>) {
          walk(n.body, f);
        }
      },
      node->value);
}

class Printer {
 public:
  explicit Printer(const Stage& stage) : stage_(stage) {}

  std::string print() {
    show_everywhere();
    visit(stage_.root, 0);
    return out_;
  }

 private:
  const std::string& name(int v) const { return stage_.space.names[v]; }
  std::string names(const std::vector<int>& vs) const {
    std::vector<std::string> out;
    for (int v : vs) out.push_back(name(v));
    return fmt::format("{}", fmt::join(out, ", "));
  }
  void line(int depth, const std::string& text) {
    out_ += std::string(static_cast<size_t>(depth) * 2, ' ') + text + "\n";
  }

  void visit(const NodePtr& node, int depth) {
    std::visit([&](const auto& n) { show(n, depth); }, node->value);
  }

  void show_everywhere() {
    std::vector<std::string> dims;
    for (const EverywhereDimension& d : stage_.everywhere) {
      dims.push_back(fmt::format("{}[{}].{}", machine_name(), d.level, d.dimension));
    }
    if (!dims.empty()) line(0, fmt::format("everywhere on {}", fmt::join(dims, ", ")));
  }

  void show(const Launch& n, int depth) {
    std::vector<std::string> dims;
    for (const LaunchDimension& d : n.dimensions) {
      dims.push_back(fmt::format("{} on {}[{}].{}", name(d.variable), machine_name(), d.level, d.dimension));
    }
    line(depth, fmt::format("launch {}", fmt::join(dims, ", ")));
    visit(n.body, depth + 1);
  }
  void show(const Loop& n, int depth) {
    line(depth, fmt::format("for {} < {}", name(n.variable), stage_.space.extents[n.variable].to_string()));
    visit(n.body, depth + 1);
  }
  void show(const Acquire& n, int depth) {
    std::vector<std::string> rects;
    for (const SymbolicRect& r : n.rects) rects.push_back(n.tensor + to_text(r));
    std::string who = n.place_levels < static_cast<int>(stage_.machine.levels.size())
                          ? fmt::format(" by each processor of level {}", n.place_levels - 1)
                          : "";
    std::string into = n.parent ? " into the shared copy" : "";
    std::string shape = n.blocks.empty() ? "" : " in blocks of " + names(n.blocks);
    if (!n.exact && !n.exact_in_blocks) shape += n.blocks.empty() ? " (bounding box)" : " (bounding boxes)";
    line(depth, fmt::format("acquire {} {}{}{}{}", to_string(n.privilege), fmt::join(rects, " ∪ "), shape, who, into));
    visit(n.body, depth);
  }
  void show(const Leaf& n, int depth) { show(n.root, n, "leaf", depth); }

  void show(const LeafPart& part, const Leaf& leaf, const std::string& what, int depth) {
    std::string head = fmt::format("{} [{}]{}", what, names(part.loops), marks(part));
    if (const auto* parts = part.parts()) {
      line(depth, head + ":");
      for (const LeafPart& p : *parts) {
        show(p, leaf, p.fills ? "fill " + leaf.workspaces[*p.fills].name : "then", depth + 1);
      }
      return;
    }
    const Compute& n = *part.compute();
    std::string kernel = n.library ? " as " + library(*n.library) : "";
    line(depth, fmt::format("{}{}: {} {} {}", head, kernel, to_string(n.assignment.lhs), n.accumulate ? "+=" : "=",
                            to_string(n.assignment.rhs)));
  }

  std::string library(const LibraryLeaf& leaf) const {
    std::vector<std::string> indices;
    for (const LibraryIndex& i : leaf.indices) indices.push_back(to_string(i.role) + " " + name(i.variable));
    return fmt::format("{}({})", leaf.kernel, fmt::join(indices, ", "));
  }

  std::string marks(const LeafPart& part) const {
    std::string out;
    for (const LoopMark& m : part.marks) out += " " + m.in_program(name(m.loop));
    return out;
  }
  void show(const Init& n, int depth) { line(depth, fmt::format("init {} = 0", n.tensor)); }
  void show(const Chain& n, int depth) {
    for (const NodePtr& part : n.parts) visit(part, depth);
  }

  std::string machine_name() const { return stage_.machine.name.empty() ? "machine" : stage_.machine.name; }

  static std::string to_text(const SymbolicRect& r) {
    std::vector<std::string> dims;
    for (size_t d = 0; d < r.lo.size(); ++d) dims.push_back(r.lo[d].to_string() + " : " + r.hi[d].to_string());
    return fmt::format("[{}]", fmt::join(dims, ", "));
  }

  const Stage& stage_;
  std::string out_;
};

}  // namespace

AccessIndices access_indices(const IterationSpace<IntExpr>& space, const Access& access) {
  AccessIndices out;
  for (size_t d = 0; d < access.indices.size(); ++d) {
    out.variables.push_back(number(space, access.indices[d]));
    if (access.is_shifted()) out.offsets.push_back(access.offset(d));
  }
  return out;
}

std::vector<const Acquire*> acquires_of(const Stage& stage) {
  std::vector<const Acquire*> out;
  walk(stage.root, [&](const Node& node) {
    if (const auto* a = std::get_if<Acquire>(&node.value)) out.push_back(a);
  });
  std::sort(out.begin(), out.end(), [](const Acquire* a, const Acquire* b) { return a->id < b->id; });
  return out;
}

std::vector<int> all_loops(const LeafPart& part) {
  std::vector<int> out = part.loops;
  if (const auto* parts = part.parts()) {
    for (const LeafPart& p : *parts) {
      std::vector<int> inner = all_loops(p);
      out.insert(out.end(), inner.begin(), inner.end());
    }
  }
  return out;
}

std::vector<LoopMark> all_marks(const LeafPart& part) {
  std::vector<LoopMark> out = part.marks;
  if (const auto* parts = part.parts()) {
    for (const LeafPart& p : *parts) {
      std::vector<LoopMark> inner = all_marks(p);
      out.insert(out.end(), inner.begin(), inner.end());
    }
  }
  return out;
}

const Leaf& leaf_of(const Stage& stage) {
  const Leaf* leaf = nullptr;
  walk(stage.root, [&](const Node& node) {
    if (const auto* l = std::get_if<Leaf>(&node.value)) leaf = l;
  });
  if (!leaf) throw InternalError("a stage without a leaf");
  return *leaf;
}

std::vector<LaunchDimension> launch_dimensions(const Stage& stage) {
  std::vector<LaunchDimension> out;
  walk(stage.root, [&](const Node& node) {
    if (const auto* l = std::get_if<Launch>(&node.value)) {
      out.insert(out.end(), l->dimensions.begin(), l->dimensions.end());
    }
  });
  return out;
}

std::string to_string(Privilege privilege) {
  switch (privilege) {
    case Privilege::Read: return "read";
    case Privilege::Write: return "write";
    case Privilege::Reduce: return "reduce";
  }
  throw InternalError("unknown privilege");
}

std::string to_string(const Stage& stage) { return Printer(stage).print(); }

std::string to_string(const Program& program) {
  std::string out;
  for (const Stage& stage : program.stages) out += to_string(stage);
  return out;
}

}  // namespace distal::core
