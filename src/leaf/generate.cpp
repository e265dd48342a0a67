#include "leaf/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "leaf/compile.h"
#include "leaf/nest.h"

namespace distal::core {

namespace {

std::string cpp_type(ElementType type) {
  switch (type) {
    case ElementType::Float: return "float";
    case ElementType::Double: return "double";
    case ElementType::Int32: return "std::int32_t";
    case ElementType::Int64: return "std::int64_t";
    case ElementType::ComplexFloat: return "std::complex<float>";
    case ElementType::ComplexDouble: return "std::complex<double>";
  }
  throw InternalError("unknown element type");
}

// Integers are computed unsigned, where wrapping round is defined.
std::string computing_type(ElementType type) {
  if (type == ElementType::Int32) return "std::uint32_t";
  if (type == ElementType::Int64) return "std::uint64_t";
  return cpp_type(type);
}

class Generator {
 public:
  Generator(const StagePlan& stage, ElementType type)
      : stage_(stage),
        type_(type),
        leaf_(leaf_of(*stage.stage)),
        nest_(make_leaf_nest(stage.space, stage.leaf_loops)) {}

  std::string run() {
    out_ += fmt::format("// {}\n#include <complex>\n#include <cstdint>\n\n", to_string(stage_.stage->source.statement));
    out_ += fmt::format("using T = {};\nusing C = {};\nusing Int = std::int64_t;\n\n", cpp_type(type_),
                        computing_type(type_));
    out_ +=
        "extern \"C\" void leaf(const Int* extent, const Int* value, void* const* data, const Int* offset,\n"
        "                     const Int* const* stride) {\n";
    indent_ = 1;
    declare_operands();
    declare_fixed();
    recover(0);
    loop(0);
    out_ += "}\n";
    return out_;
  }

 private:
  void line(const std::string& text) { out_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + text + "\n"; }
  // Names of the user may be keywords of C++, so every variable gets a prefix.
  std::string name(int v) const { return "v_" + stage_.space.names[v]; }
  static std::string extent(int v) { return fmt::format("extent[{}]", v); }

  void declare_operands() {
    for (size_t a = 0; a < leaf_.accesses.size(); ++a) {
      const char* constant = a == 0 ? "" : "const ";
      line(fmt::format("{0}T* __restrict p{1} = static_cast<{0}T*>(data[{1}]) + offset[{1}];", constant, a));
      for (size_t d = 0; d < leaf_.accesses[a].indices.size(); ++d) {
        line(fmt::format("const Int s{0}_{1} = stride[{0}][{1}];", a, d));
      }
    }
  }

  void declare_fixed() {
    std::vector<bool> known(static_cast<size_t>(stage_.space.size()), true);
    for (int v : nest_.loops) known[v] = false;
    for (const auto& derivations : nest_.recovered) {
      for (const Derivation& d : derivations) {
        if (const auto* t = std::get_if<Tile>(&d)) known[t->parent] = false;
        if (const auto* f = std::get_if<Fuse>(&d)) known[f->outer] = known[f->inner] = false;
        if (const auto* r = std::get_if<Rotation>(&d)) known[r->target] = false;
      }
    }
    for (int v = 0; v < stage_.space.size(); ++v) {
      if (known[v]) line(fmt::format("[[maybe_unused]] const Int {} = value[{}];", name(v), v));
    }
  }

  // Outside of all loops there is nothing to continue with, so a missing iteration ends the leaf.
  void recover(size_t depth) {
    const char* skip = depth == 0 ? "return" : "continue";
    for (const Derivation& d : nest_.recovered[depth]) {
      if (const auto* t = std::get_if<Tile>(&d)) {
        line(fmt::format("const Int {} = {} * {} + {};", name(t->parent), name(t->outer), extent(t->inner),
                         name(t->inner)));
        if (!is_bounded_by_loop(*t, depth))
          line(fmt::format("if ({} >= {}) {};", name(t->parent), extent(t->parent), skip));
      } else if (const auto* f = std::get_if<Fuse>(&d)) {
        line(fmt::format("const Int {} = {} / {};", name(f->outer), name(f->fused), extent(f->inner)));
        line(fmt::format("const Int {} = {} % {};", name(f->inner), name(f->fused), extent(f->inner)));
      } else if (const auto* r = std::get_if<Rotation>(&d)) {
        std::string sum = name(r->result);
        for (int by : r->by) sum += " + " + name(by);
        line(fmt::format("const Int {} = ({}) % {};", name(r->target), sum, extent(r->target)));
      }
    }
  }

  // A tile whose inner loop is the one just entered needs no test in the loop: the loop's end takes it in.
  bool is_bounded_by_loop(const Tile& t, size_t depth) const { return depth > 0 && nest_.loops[depth - 1] == t.inner; }

  std::string end_of_loop(size_t depth) const {
    int v = nest_.loops[depth];
    for (const Derivation& d : nest_.recovered[depth + 1]) {
      const auto* t = std::get_if<Tile>(&d);
      if (!t || t->inner != v) continue;
      std::string left = fmt::format("{} - {} * {}", extent(t->parent), name(t->outer), extent(v));
      return fmt::format("({0} < {1} ? {0} : {1})", extent(v), left);
    }
    return extent(v);
  }

  void loop(size_t depth) {
    if (depth == nest_.loops.size()) return point();
    int v = nest_.loops[depth];
    line(fmt::format("const Int end_{} = {};", stage_.space.names[v], end_of_loop(depth)));
    bool parallel = std::find(leaf_.parallel.begin(), leaf_.parallel.end(), v) != leaf_.parallel.end();
    if (parallel) line("#pragma omp parallel for");
    line(fmt::format("for (Int {0} = 0; {0} < end_{1}; ++{0}) {{", name(v), stage_.space.names[v]));
    ++indent_;
    recover(depth + 1);
    loop(depth + 1);
    --indent_;
    line("}");
  }

  std::string element(int access) const {
    std::vector<std::string> parts;
    const std::vector<int>& indices = leaf_.accesses[access].indices;
    for (size_t d = 0; d < indices.size(); ++d)
      parts.push_back(fmt::format("{} * s{}_{}", name(indices[d]), access, d));
    return fmt::format("p{}[{}]", access, parts.empty() ? "0" : fmt::format("{}", fmt::join(parts, " + ")));
  }

  std::string expression(const Expr& expr, int& access) const {
    if (std::holds_alternative<Access>(expr.node())) return fmt::format("C({})", element(access++));
    if (const auto* l = std::get_if<Literal>(&expr.node())) return fmt::format("C({})", literal(*l));
    if (const auto* n = std::get_if<Negate>(&expr.node()))
      return fmt::format("(C(0) - {})", expression(n->operand, access));
    const auto& b = std::get<Binary>(expr.node());
    const char* op = b.op == BinaryOp::Add ? "+" : b.op == BinaryOp::Subtract ? "-" : "*";
    std::string left = expression(b.left, access);
    return fmt::format("({} {} {})", left, op, expression(b.right, access));
  }

  std::string literal(const Literal& l) const {
    if (is_integer(type_)) return fmt::format("{}LL", static_cast<int64_t>(l.value));
    return fmt::format("{:a}", l.value);  // hexadecimal: not a bit is lost
  }

  void point() {
    line("C sum = C(0);");
    for (const LeafTerm& term : leaf_terms(*stage_.stage)) {
      int access = term.first_access;
      std::string condition;
      for (int v : term.only_at_zero) condition += fmt::format("{}{} == 0", condition.empty() ? "" : " && ", name(v));
      std::string guard = condition.empty() ? "" : fmt::format("if ({}) ", condition);
      line(fmt::format("{}sum {} {};", guard, term.negated ? "-=" : "+=", expression(term.expr, access)));
    }
    std::string out = element(0);
    line(leaf_.accumulate ? fmt::format("{0} = T(C({0}) + sum);", out) : fmt::format("{} = T(sum);", out));
  }

  const StagePlan& stage_;
  ElementType type_;
  const Leaf& leaf_;
  LeafNest nest_;
  std::string out_;
  int indent_ = 0;
};

class GeneratedLeaf : public LeafKernel {
 public:
  GeneratedLeaf(const StagePlan& stage, CompiledLeaf code) : extents_(stage.space.extents), code_(std::move(code)) {}

  void run(const LeafArguments& arguments) const override {
    size_t n = arguments.operands.size();
    absl::InlinedVector<void*, 8> data(n);
    absl::InlinedVector<int64_t, 8> offsets(n);
    absl::InlinedVector<const int64_t*, 8> strides(n);
    for (size_t a = 0; a < n; ++a) {
      data[a] = arguments.operands[a].data;
      offsets[a] = arguments.operands[a].offset;
      strides[a] = arguments.operands[a].strides.data();
    }
    code_.function(extents_.data(), arguments.values.data(), data.data(), offsets.data(), strides.data());
  }

  std::string description() const override { return code_.from_cache ? "generated (cached)" : "generated (compiled)"; }

 private:
  std::vector<int64_t> extents_;
  CompiledLeaf code_;
};

}  // namespace

std::string generate_source(const StagePlan& stage, ElementType type) { return Generator(stage, type).run(); }

std::unique_ptr<LeafKernel> make_generated_leaf(const StagePlan& stage, ElementType type) {
  bool parallel = !leaf_of(*stage.stage).parallel.empty();
  return std::make_unique<GeneratedLeaf>(stage, compile_leaf(generate_source(stage, type), parallel));
}

}  // namespace distal::core
