#include "leaf/gpu/nest_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "leaf/cpp_text.h"
#include "leaf/gpu/gpu_leaf.h"
#include "leaf/gpu/kernel_source.h"
#include "leaf/nest.h"
#include "support/text_writer.h"

namespace distal::core {

namespace {

class NestWriter {
 public:
  NestWriter(const Stage& stage, ElementType type, const std::string& function)
      : stage_(stage),
        type_(type),
        function_(function),
        compute_(gpu_compute(stage)),
        loops_(leaf_of(stage).root.loops),
        params_(params_as_numbers(stage.source.statement)) {}

  std::string run() {
    write_kernel_head(writer_, compute_, {"kernel.h"});
    write_kernel_types(writer_, type_);
    line("");
    declare_arguments();
    write_nest_kernel();
    line("");
    line("}  // namespace");
    line("");
    write_start();
    return writer_.text();
  }

 private:
  void line(const std::string& text) { writer_.line(text); }
  std::string name(int v) const { return "v_" + stage_.space.names[static_cast<size_t>(v)]; }
  std::string product(const std::vector<std::string>& all) const {
    return all.empty() ? "1" : fmt::format("{}", fmt::join(all, " * "));
  }

  void declare_arguments() {
    writer_.open("struct Arguments");
    if (stage_.space.size() > 0) {
      line(fmt::format("Int extent[{0}], value[{0}];  // {1}", stage_.space.size(),
                       fmt::join(stage_.space.names, ", ")));
    }
    if (!params_.empty()) line(fmt::format("Int param[{}];  // {}", params_.size(), fmt::join(params_, ", ")));
    for (size_t o = 0; o < compute_.operands.size(); ++o) {
      size_t dimensions = compute_.operands[o].indices.size();
      line(fmt::format("{}T* p{};", o == 0 ? "" : "const ", o));
      if (dimensions > 0) line(fmt::format("Int s{}[{}];", o, dimensions));
    }
    writer_.close("};");
    line("");
  }

  bool moves_output(int loop) const {
    const std::vector<int>& indices = compute_.operands[0].indices;
    return std::any_of(indices.begin(), indices.end(), [&](int index) -> bool {
      return recovered_from(stage_.space.derivations, stage_.space.size(), index)[static_cast<size_t>(loop)];
    });
  }

  // Loops that select the output element become threads, the others stay loops. Two threads may still compute the same
  // element, since a collapsed loop can combine a loop of the output with one of a sum. So sums are added atomically.
  void write_nest_kernel() {
    std::vector<int> threads, inner;
    for (int v : loops_) (moves_output(v) || !compute_.accumulate ? threads : inner).push_back(v);
    std::vector<int> all = threads;
    all.insert(all.end(), inner.begin(), inner.end());
    LeafNest nest = make_leaf_nest(numbered_space(), all);
    writer_.open("__global__ void compute(const Arguments a, Int elements)");
    declare_fixed(nest);
    writer_.open("for (Int n = number_of_thread(); n < elements; n += count_of_threads())");
    line("Int rest = n;");
    for (auto v = threads.rbegin(); v != threads.rend(); ++v) {
      line(fmt::format("const Int {} = rest % {};", name(*v), extent(*v)));
      line(fmt::format("rest /= {};", extent(*v)));
    }
    for (size_t depth = 0; depth <= threads.size(); ++depth) recover(nest.recovered[depth]);
    line("C sum = C(0);");
    for (size_t i = 0; i < inner.size(); ++i) {
      writer_.open(fmt::format("for (Int {0} = 0; {0} < {1}; ++{0})", name(inner[i]), extent(inner[i])));
      recover(nest.recovered[threads.size() + i + 1]);
    }
    write_terms();
    for (size_t i = 0; i < inner.size(); ++i) writer_.close();
    write_sum();
    writer_.close();
    writer_.close();
  }

  // The stage's variables without extents: the kernel gets these as arguments.
  IterationSpace<int64_t> numbered_space() const { return {stage_.space.names, {}, stage_.space.derivations}; }

  static std::string extent(int v) { return fmt::format("a.extent[{}]", v); }

  void declare_fixed(const LeafNest& nest) {
    std::vector<bool> known = known_before(numbered_space(), nest.loops);
    for (int v = 0; v < stage_.space.size(); ++v) {
      if (known[static_cast<size_t>(v)]) line(fmt::format("const Int {} = a.value[{}];", name(v), v));
    }
  }

  // Recovers variables. An iteration of a tile past the end of its variable is skipped.
  void recover(const std::vector<Derivation>& derivations) {
    for (const Derivation& d : derivations) {
      for (const std::string& text : recovery_text(
               d, [&](int v) { return name(v); }, extent))
        line(text);
      if (std::optional<Clip> clip = clip_of(d)) {
        line(fmt::format("if ({} >= {}) continue;", name(clip->variable), extent(clip->variable)));
      }
    }
  }

  // ---- a point ----

  std::string element(int operand) const {
    std::vector<std::string> parts;
    const std::vector<int>& indices = compute_.operands[static_cast<size_t>(operand)].indices;
    for (size_t d = 0; d < indices.size(); ++d) {
      parts.push_back(fmt::format("{} * a.s{}[{}]", name(indices[d]), operand, d));
    }
    return fmt::format("a.p{}[{}]", operand, parts.empty() ? "0" : fmt::format("{}", fmt::join(parts, " + ")));
  }

  void write_terms() {
    for (const LeafTerm& term : compute_.terms) {
      std::vector<std::string> conditions;
      for (int v : term.only_at_zero) conditions.push_back(name(v) + " == 0");
      line(fmt::format("{}sum {} {};", conditions.empty() ? "" : fmt::format("if ({}) ", fmt::join(conditions, " && ")),
                       term.negated ? "-=" : "+=",
                       expression_text(
                           term, type_, [&](int operand) { return element(operand); },
                           [&](const std::string& name) {
                             return fmt::format("a.param[{}]",
                                                std::find(params_.begin(), params_.end(), name) - params_.begin());
                           })));
    }
  }

  void write_sum() {
    line(compute_.accumulate ? fmt::format("add_atomically({}, sum);", element(0))
                             : fmt::format("{} = T(sum);", element(0)));
  }

  // ---- the function ----

  void write_start() {
    std::string begin = fmt::format("extern \"C\" int {}(", function_);
    line(begin + "const Int* numbers, void* const* data, const Int* const* stride,");
    writer_.open(std::string(begin.size(), ' ') + "const Device& device)");
    line("Arguments a;");
    set_arguments();
    std::vector<std::string> factors;
    for (int v : loops_) {
      if (moves_output(v) || !compute_.accumulate) factors.push_back(extent(v));
    }
    line(fmt::format("const Int elements = {};", product(factors)));
    line("if (elements > 0) launch(compute, elements, device.stream, a, elements);");
    line("return 0;");
    writer_.close();
  }

  void set_arguments() {
    if (stage_.space.size() > 0) {
      writer_.open(fmt::format("for (int v = 0; v < {}; ++v)", stage_.space.size()));
      line("a.extent[v] = numbers[v];");
      line(fmt::format("a.value[v] = numbers[{} + v];", stage_.space.size()));
      writer_.close();
    }
    if (!params_.empty()) {
      line(fmt::format("for (int p = 0; p < {}; ++p) a.param[p] = numbers[{} + p];", params_.size(),
                       2 * stage_.space.size()));
    }
    for (size_t o = 0; o < compute_.operands.size(); ++o) {
      line(fmt::format("a.p{0} = static_cast<{1}T*>(data[{0}]);", o, o == 0 ? "" : "const "));
      size_t dimensions = compute_.operands[o].indices.size();
      if (dimensions > 0) line(fmt::format("for (int d = 0; d < {0}; ++d) a.s{1}[d] = stride[{1}][d];", dimensions, o));
    }
  }

  const Stage& stage_;
  ElementType type_;
  const std::string& function_;
  const Compute& compute_;
  const std::vector<int>& loops_;
  const std::vector<std::string> params_;
  TextWriter writer_;
};

}  // namespace

std::string gpu_nest_source(const Stage& stage, ElementType type, const std::string& function) {
  return NestWriter(stage, type, function).run();
}

}  // namespace distal::core
