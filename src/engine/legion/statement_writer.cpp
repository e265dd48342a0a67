#include "engine/legion/statement_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "ir/bounds.h"
#include "leaf/gpu/gpu_leaf.h"

namespace distal::core {

namespace {

// The number of a level's dimension among all dimensions of the machine, the outermost level first.
int machine_dimension(const Machine& machine, int level, int dimension) {
  for (int l = 0; l < level; ++l) dimension += static_cast<int>(machine.levels[static_cast<size_t>(l)].extents.size());
  return dimension;
}

// The nodes around the leaf, outermost first.
std::vector<const Node*> nodes_of(const Stage& stage) {
  std::vector<const Node*> out;
  const Node* node = stage.root.get();
  while (node) {
    out.push_back(node);
    const Node* next = nullptr;
    if (const auto* c = std::get_if<Chain>(&node->value)) next = c->parts.back().get();
    if (const auto* l = std::get_if<Launch>(&node->value)) next = l->body.get();
    if (const auto* a = std::get_if<Acquire>(&node->value)) next = a->body.get();
    if (const auto* l = std::get_if<Loop>(&node->value)) next = l->body.get();
    node = next;
  }
  return out;
}

// The sequential loops among the nodes.
std::vector<int> loops_of(const std::vector<const Node*>& nodes) {
  std::vector<int> out;
  for (const Node* node : nodes) {
    if (const auto* l = std::get_if<Loop>(&node->value)) out.push_back(l->variable);
  }
  return out;
}

std::set<std::string> names_in(const SymbolicRect& rect) {
  std::set<std::string> out;
  for (const auto* side : {&rect.lo, &rect.hi}) {
    for (const IntExpr& e : *side) e.collect_names(out);
  }
  return out;
}

// A region of a launch: one rectangle of an acquire.
struct LaunchRegion {
  int acquire;
  int rect;
  bool operator==(const LaunchRegion&) const = default;
};

std::vector<LaunchRegion> regions_of(const Stage& stage) {
  std::vector<LaunchRegion> out;
  for (const LeafAccess& a : leaf_of(stage).accesses) {
    LaunchRegion region{a.acquire, a.rect};
    if (std::find(out.begin(), out.end(), region) == out.end()) out.push_back(region);
  }
  return out;
}

// Adds the stage's variables to the program's names.
CppNames with_variables(const Stage& stage, CppNames names) {
  for (const std::string& v : stage.space.names) {
    if (names.has(v)) {
      throw Error(fmt::format("a loop and a param are both called {}; a Legion program cannot tell them apart", v),
                  stage.source.statement.span, "rename one of them");
    }
    names.add(v);
  }
  return names;
}

class StatementWriter {
 public:
  StatementWriter(const Stage& stage, const StatementNames& statement, const CppNames& names, TextWriter& writer)
      : stage_(stage),
        statement_(statement),
        names_(with_variables(stage, names)),
        writer_(writer),
        nodes_(nodes_of(stage)),
        loops_(loops_of(nodes_)),
        regions_(regions_of(stage)) {}

  void write_statement() {
    writer_.line("// " + to_string(stage_.source.statement));
    writer_.open(fmt::format("static void statement_{}(Session<T>& session)", statement_.number));
    refuse_empty_sums();
    writer_.line(fmt::format("const LaunchDomain domain({}{});", statement_.grid, held_text()));
    write_all_parts();
    visit(*stage_.root);
    writer_.line(fmt::format("session.bring_home({});", tensor(stage_.source.statement.lhs.tensor)));
    writer_.close();
    writer_.line("");
  }

  void write_leaf() {
    if (!statement_.gpu.empty()) return write_gpu_leaf();
    writer_.line("// The leaf: what a processor computes at each launch.");
    if (!statement_.nest.empty()) {
      writer_.line("extern \"C\" void " + statement_.nest +
                   "(const Int* extent, const Int* value, void* const* data, const Int* offset,");
      writer_.line(std::string(18 + statement_.nest.size(), ' ') +
                   "const Int* const* stride, const Int* first, const Int* last);");
    }
    writer_.open(fmt::format("static void leaf_{}(const LeafCall& call)", statement_.number));
    declare_fixed();
    declare_values();
    declare_operands();
    writer_.line("#ifdef DISTAL_LEAVES");
    writer_.line(fmt::format("run_leaf(leaves(), {}, value, operands);", statement_.number - 1));
    writer_.line("#else");
    call_nest();
    writer_.line("#endif");
    writer_.close();
    writer_.line("");
    write_about("std::string", "leaf_text", "description", "\"loops\"");
    writer_.line("// Whether the leaf overwrites its part of the output. If so, the output need not be zeroed first.");
    write_about("bool", "leaf_overwrites", "begins", "false");
  }

 private:
  void refuse_empty_sums() {
    for (const IndexVar& v : sums_beside_other_terms(stage_.source.statement)) {
      int variable = find_variable(stage_.space, v.name);
      writer_.line(fmt::format("if ({} == 0) fail(3, \"{}\");",
                               names_.text(stage_.space.extents[static_cast<size_t>(variable)]), empty_sum_text(v)));
    }
  }

  const std::string& name(int v) const { return names_[space_name(v)]; }
  const std::string& space_name(int v) const { return stage_.space.names[static_cast<size_t>(v)]; }
  const std::string& tensor(const std::string& t) const { return statement_.tensors.at(t); }

  std::string held_text() const {
    std::vector<std::string> out;
    std::set<int> taken;
    for (const LaunchDimension& d : launch_dimensions(stage_)) {
      taken.insert(machine_dimension(stage_.machine, d.level, d.dimension));
    }
    std::map<int, IntExpr> faces;
    for (const HeldDimension& h : stage_.held) {
      faces.insert_or_assign(machine_dimension(stage_.machine, h.level, h.dimension), h.face);
    }
    int count = 0;
    for (const Grid& level : stage_.machine.levels) count += static_cast<int>(level.extents.size());
    for (int d = 0; d < std::max(count, 1); ++d) {
      if (taken.count(d) > 0) continue;
      auto face = faces.find(d);
      out.push_back(fmt::format("{{{}, {}}}", d, face == faces.end() ? "0" : names_.text(face->second)));
    }
    return out.empty() ? "" : fmt::format(", {{{}}}", fmt::join(out, ", "));
  }

  // Writes a function that asks DISTAL's library about the leaf, or without it gives the answer for the loops.
  void write_about(const char* type, const char* function, const char* question, const char* of_loops) {
    writer_.open(fmt::format("static {} {}_{}()", type, function, statement_.number));
    writer_.line("#ifdef DISTAL_LEAVES");
    writer_.line(fmt::format("return leaves().{}({});", question, statement_.number - 1));
    writer_.line("#else");
    writer_.line(fmt::format("return {};", of_loops));
    writer_.line("#endif");
    writer_.close();
    writer_.line("");
  }

  // ---- launches ----

  void visit(const Node& node) {
    std::visit([&](const auto& n) { show(n); }, node.value);
  }

  void show(const Chain& n) {
    for (const NodePtr& part : n.parts) visit(*part);
  }
  void show(const Init& n) {
    writer_.line(fmt::format("if (!leaf_overwrites_{}()) session.zero({});", statement_.number, tensor(n.tensor)));
  }
  void show(const Launch& n) { visit(*n.body); }

  void show(const Loop& n) {
    const std::string& v = name(n.variable);
    writer_.open(fmt::format("for (Int {0} = 0; {0} < {1}; ++{0})", v, names_.text(stage_.space.extents[n.variable])));
    visit(*n.body);
    writer_.close();
  }

  void show(const Acquire& n) { visit(*n.body); }

  // ---- parts ----

  // Declares the parts before the loops: the partitions of many steps are made together.
  void write_all_parts() {
    size_t depth = 0;
    for (const Node* node : nodes_) {
      if (std::holds_alternative<Loop>(node->value)) ++depth;
      const auto* n = std::get_if<Acquire>(&node->value);
      for (size_t r = 0; n && r < n->rects.size(); ++r) {
        LaunchRegion region{n->id, static_cast<int>(r)};
        // Skips acquires that the leaf does not use: it adds to the partial of the lowest level only.
        if (std::find(regions_.begin(), regions_.end(), region) != regions_.end()) write_parts(*n, r, depth);
      }
    }
  }

  std::string parts_name(const Acquire& n, size_t rect) const {
    return n.rects.size() == 1 ? "parts_of_" + tensor(n.tensor)
                               : fmt::format("parts_of_{}_{}", tensor(n.tensor), rect + 1);
  }

  // The rectangle of an acquire that one processor uses itself. Processors of a lower level that share a rectangle must
  // write disjoint parts of it: otherwise Legion would take each processor's copy for the whole rectangle.
  SymbolicRect used_rect(const Acquire& n, size_t rect) const {
    if (n.privilege != Privilege::Write || n.place_levels == static_cast<int>(stage_.machine.levels.size())) {
      return n.rects[rect];
    }
    std::vector<Interval<IntExpr>> intervals;
    for (const IntExpr& extent : stage_.space.extents) intervals.push_back(full(extent));
    for (int v : fixed_in_launches()) {
      intervals[static_cast<size_t>(v)] = point(IntExpr::name(space_name(v)));
    }
    bounds(stage_.space, intervals);
    SymbolicRect out;
    const AccessIndices& indices = n.accesses[rect];
    for (size_t d = 0; d < indices.variables.size(); ++d) {
      const Interval<IntExpr>& interval = intervals[static_cast<size_t>(indices.variables[d])];
      IntExpr offset = indices.offsets.empty() ? IntExpr(0) : indices.offsets[d];
      out.lo.push_back(interval.lo + offset);
      out.hi.push_back(interval.hi + offset);
    }
    return out;
  }

  // The variables of all launches, and of the loops around the innermost one.
  std::vector<int> fixed_in_launches() const {
    std::vector<int> out, loops;
    for (const Node* node : nodes_) {
      if (const auto* l = std::get_if<Loop>(&node->value)) loops.push_back(l->variable);
      const auto* launch = std::get_if<Launch>(&node->value);
      if (!launch) continue;
      for (const LaunchDimension& d : launch->dimensions) out.push_back(d.variable);
      out.insert(out.end(), loops.begin(), loops.end());
      loops.clear();
    }
    return out;
  }

  void write_parts(const Acquire& n, size_t rect, size_t depth) {
    const SymbolicRect r = used_rect(n, rect);
    std::vector<LaunchDimension> dimensions = dimensions_in(r);
    std::vector<int> loops = loops_in(r);
    bool transient = n.privilege == Privilege::Read && !loops.empty() && depth == loops_.size();
    std::vector<std::string> extents;
    for (int l : loops) extents.push_back(names_.text(stage_.space.extents[static_cast<size_t>(l)]));
    writer_.open(
        fmt::format("const Parts {} = session.parts({}, domain, Lifetime::{}, {{{}}}, [](const Coordinates&{}, const "
                    "Coordinates&{})"
                    " -> Rectangle",
                    parts_name(n, rect), tensor(n.tensor), transient ? "Transient" : "Kept", fmt::join(extents, ", "),
                    dimensions.empty() ? "" : " at", loops.empty() ? "" : " step"));
    for (const LaunchDimension& d : dimensions) declare_launch_variable(d, "at");
    declare_loops(loops, "step");
    auto list = [&](const std::vector<IntExpr>& all) {
      std::vector<std::string> out;
      for (const IntExpr& e : all) out.push_back(names_.text(e));
      return fmt::format("{}", fmt::join(out, ", "));
    };
    writer_.line(fmt::format("return {{{{{}}},", list(r.lo)));
    writer_.line(fmt::format("        {{{}}}}};", list(r.hi)));
    writer_.close(n.privilege == Privilege::Write ? "}, true);" : "});");
  }

  // The launch dimensions that a rectangle depends on.
  std::vector<LaunchDimension> dimensions_in(const SymbolicRect& rect) const {
    std::set<std::string> used = names_in(rect);
    std::vector<LaunchDimension> out;
    for (const LaunchDimension& d : launch_dimensions(stage_)) {
      if (used.count(space_name(d.variable)) > 0) out.push_back(d);
    }
    return out;
  }
  // The loops that a rectangle depends on.
  std::vector<int> loops_in(const SymbolicRect& rect) const {
    std::set<std::string> used = names_in(rect);
    std::vector<int> out;
    for (int l : loops_) {
      if (used.count(space_name(l)) > 0) out.push_back(l);
    }
    return out;
  }

  void declare_launch_variable(const LaunchDimension& d, const char* point) {
    writer_.line(fmt::format("const Int {} = {}[{}];", name(d.variable), point,
                             machine_dimension(stage_.machine, d.level, d.dimension)));
  }

  // Declares the variables that are fixed during a run of the leaf.
  void declare_fixed() {
    for (const LaunchDimension& d : launch_dimensions(stage_)) declare_launch_variable(d, "call.at");
    declare_loops(loops_, "call.loops");
  }

  void declare_loops(const std::vector<int>& loops, const char* values) {
    for (size_t l = 0; l < loops.size(); ++l) {
      writer_.line(fmt::format("const Int {} = {}[{}];", name(loops[l]), values, l));
    }
  }

  void show(const Leaf&) {
    std::vector<std::string> uses;
    std::vector<const Acquire*> acquires = acquires_of(stage_);
    for (const LaunchRegion& r : regions_) {
      uses.push_back(use_text(*acquires[static_cast<size_t>(r.acquire)], static_cast<size_t>(r.rect)));
    }
    writer_.line(fmt::format("session.launch(kFirstLeaf + {}, domain, {{{}}}, {{{}}});", 2 * (statement_.number - 1),
                             names_text(loops_), fmt::join(uses, ", ")));
  }

  std::string use_text(const Acquire& n, size_t rect) const {
    std::string words = parts_name(n, rect);
    if (n.privilege == Privilege::Write) words += fmt::format(", leaf_overwrites_{}()", statement_.number);
    std::vector<int> loops = loops_in(used_rect(n, rect));
    if (!loops.empty()) words += fmt::format(", {{{}}}", names_text(loops));
    switch (n.privilege) {
      case Privilege::Read: return "read(" + words + ")";
      case Privilege::Reduce: return "reduce(" + words + ")";
      default: return "write(" + words + ")";
    }
  }

  std::string names_text(const std::vector<int>& variables) const {
    std::vector<std::string> out;
    for (int v : variables) out.push_back(name(v));
    return fmt::format("{}", fmt::join(out, ", "));
  }

  // ---- the leaf ----

  // By variable: its name if it is fixed during a run of the leaf, "0" if the leaf loops over it.
  std::vector<std::string> values() const {
    std::vector<std::string> out(static_cast<size_t>(stage_.space.size()), "0");
    for (const LaunchDimension& d : launch_dimensions(stage_)) out[static_cast<size_t>(d.variable)] = name(d.variable);
    for (int l : loops_) out[static_cast<size_t>(l)] = name(l);
    return out;
  }

  // By access: the operand of its region.
  std::vector<std::string> operands() const {
    std::vector<std::string> out;
    std::vector<const Acquire*> acquires = acquires_of(stage_);
    for (const LeafAccess& a : leaf_of(stage_).accesses) {
      auto at = std::find(regions_.begin(), regions_.end(), LaunchRegion{a.acquire, a.rect}) - regions_.begin();
      std::vector<std::string> offsets;
      const AccessIndices& indices = acquires[static_cast<size_t>(a.acquire)]->accesses[static_cast<size_t>(a.rect)];
      for (const IntExpr& e : indices.offsets) offsets.push_back(names_.text(e));
      out.push_back(offsets.empty()
                        ? fmt::format("call.operands[{}]", at)
                        : fmt::format("moved_by<T>(call.operands[{}], {{{}}})", at, fmt::join(offsets, ", ")));
    }
    return out;
  }

  void call_nest() {
    if (statement_.nest.empty()) {
      writer_.line("#error \"this leaf has workspaces, or params as numbers, and needs DISTAL's library\"");
      return;
    }
    declare_extents();
    writer_.line(fmt::format("run_nest({}, extent, value, operands);", statement_.nest));
  }

  void declare_values() { writer_.line(fmt::format("const std::vector<Int> value{{{}}};", fmt::join(values(), ", "))); }

  void declare_operands() {
    writer_.line(fmt::format("const std::vector<Operand> operands{{{}}};", fmt::join(operands(), ", ")));
  }

  void declare_extents() {
    std::vector<std::string> extents;
    for (const IntExpr& e : stage_.space.extents) extents.push_back(names_.text(e));
    writer_.line(fmt::format("const std::vector<Int> extent{{{}}};", fmt::join(extents, ", ")));
  }

  // ---- the leaf on a GPU ----

  void write_gpu_leaf() {
    std::optional<LeafBox> box = leaf_box(stage_);
    writer_.line("// The leaf: what a GPU computes at each launch.");
    writer_.line(fmt::format("extern \"C\" GpuLeaf {};", statement_.gpu));
    writer_.open(fmt::format("static void leaf_{}(const LeafCall& call)", statement_.number));
    declare_fixed();
    declare_operands();
    if (box) {
      declare_ranges(*box);
      writer_.line(fmt::format("run_on_gpu(call, {}, ranges, operands{});", statement_.gpu, params_text()));
    } else {
      declare_values();
      declare_extents();
      writer_.line(fmt::format("run_on_gpu(call, {}, extent, value, operands{});", statement_.gpu, params_text()));
    }
    writer_.close();
    writer_.line("");
    writer_.line(
        fmt::format("static std::string leaf_text_{}() {{ return \"{}\"; }}", statement_.number, statement_.gpu_text));
    writer_.line(
        fmt::format("static bool leaf_overwrites_{}() {{ return {}; }}", statement_.number, statement_.gpu_overwrites));
    writer_.line("");
  }

  // The params of the right side, as a last argument; empty if there is none.
  std::string params_text() const {
    std::vector<std::string> out;
    for (const std::string& p : params_as_numbers(stage_.source.statement))
      out.push_back(names_.text(IntExpr::name(p)));
    return out.empty() ? "" : fmt::format(", {{{}}}", fmt::join(out, ", "));
  }

  void declare_ranges(const LeafBox& box) {
    std::vector<std::string> ranges, indices;
    for (size_t i = 0; i < box.indices.size(); ++i) {
      ranges.push_back(fmt::format("{{{}, {}}}", names_.text(box.ranges[i].lo), names_.text(box.ranges[i].hi)));
      indices.push_back(stage_.space.names[static_cast<size_t>(box.indices[i])]);
    }
    writer_.line(fmt::format("const std::vector<Range> ranges{{{}}};{}", fmt::join(ranges, ", "),
                             indices.empty() ? "" : fmt::format("  // {}", fmt::join(indices, ", "))));
  }

  const Stage& stage_;
  const StatementNames& statement_;
  CppNames names_;
  TextWriter& writer_;
  std::vector<const Node*> nodes_;
  std::vector<int> loops_;
  std::vector<LaunchRegion> regions_;
};

}  // namespace

std::vector<IndexVar> sums_beside_other_terms(const Statement& statement) {
  std::vector<IndexVar> out = reduction_variables(statement);
  const std::vector<Term> terms = additive_terms(statement);
  std::erase_if(out, [&](const IndexVar& v) {
    return std::all_of(terms.begin(), terms.end(), [&](const Term& t) {
      std::vector<IndexVar> used = variables(t.expr);
      return std::find(used.begin(), used.end(), v) != used.end();
    });
  });
  return out;
}

std::string empty_sum_text(const IndexVar& v) {
  return fmt::format("a sum over no {} beside other terms does not run on Legion", v.name);
}

void write_leaf(const Stage& stage, const StatementNames& statement, const CppNames& names, TextWriter& writer) {
  StatementWriter(stage, statement, names, writer).write_leaf();
}

void write_statement(const Stage& stage, const StatementNames& statement, const CppNames& names, TextWriter& writer) {
  StatementWriter(stage, statement, names, writer).write_statement();
}

}  // namespace distal::core
