#include "leaf/gpu/kernel_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "leaf/cpp_text.h"
#include "leaf/gpu/gpu_leaf.h"
#include "leaf/nest.h"
#include "support/text_writer.h"

namespace distal::core {

namespace {

class KernelWriter {
 public:
  KernelWriter(const Stage& stage, ElementType type, const std::vector<int>& output_order, const std::string& function)
      : stage_(stage),
        type_(type),
        output_order_(output_order),
        function_(function),
        compute_(gpu_compute(stage)),
        box_(leaf_box(stage)),
        loops_(leaf_of(stage).root.loops) {}

  std::string run() {
    const Assignment& a = compute_.assignment;
    line(fmt::format("// {} {} {}", to_string(a.lhs), to_string(a.op), to_string(a.rhs)));
    line("#include \"distal/kernel.h\"");
    line("");
    line("namespace {");
    line("");
    line("using namespace distal_gpu;");
    const ElementTraits& traits = traits_of(type_);
    line(fmt::format("using T = {};", traits.cuda_type));
    line(fmt::format("using C = {};", is_integer(type_) ? traits.computing_type : traits.cuda_type));
    line("");
    declare_arguments();
    if (box_) {
      write_box_kernel();
    } else {
      write_nest_kernel();
    }
    line("");
    line("}  // namespace");
    line("");
    write_start();
    return writer_.text();
  }

 private:
  void line(const std::string& text) { writer_.line(text); }
  std::string name(int v) const { return "v_" + stage_.space.names[static_cast<size_t>(v)]; }
  // The number of indices of a box, or of variables of a nest: the size of each array of numbers.
  size_t numbers() const { return box_ ? box_->indices.size() : static_cast<size_t>(stage_.space.size()); }

  void declare_arguments() {
    writer_.open("struct Arguments");
    if (numbers() > 0) {
      std::vector<std::string> names = stage_.space.names;
      if (box_) {
        names.clear();
        for (int v : box_->indices) names.push_back(stage_.space.names[static_cast<size_t>(v)]);
      }
      line(fmt::format("Int {1}[{0}], {2}[{0}];  // {3}", numbers(), box_ ? "lo" : "extent", box_ ? "count" : "value",
                       fmt::join(names, ", ")));
    }
    for (size_t o = 0; o < compute_.operands.size(); ++o) {
      size_t dimensions = compute_.operands[o].indices.size();
      line(fmt::format("{}T* p{};", o == 0 ? "" : "const ", o));
      if (dimensions > 0) line(fmt::format("Int s{}[{}];", o, dimensions));
    }
    writer_.close("};");
    line("");
  }

  // ---- a box ----

  // The output's indices in its storage order, so that the last one is contiguous in memory.
  std::vector<int> output_indices() const {
    std::vector<int> out;
    const std::vector<int>& indices = compute_.operands[0].indices;
    for (int d : output_order_) {
      int v = indices[static_cast<size_t>(d)];
      if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
    }
    return out;
  }

  std::vector<int> sum_indices() const {
    std::vector<int> out, output = output_indices();
    std::copy_if(box_->indices.begin(), box_->indices.end(), std::back_inserter(out),
                 [&](int v) { return std::find(output.begin(), output.end(), v) == output.end(); });
    return out;
  }

  std::string lo(int v) const { return fmt::format("a.lo[{}]", box_->position(v)); }
  std::string count(int v) const { return fmt::format("a.count[{}]", box_->position(v)); }
  std::string product(const std::vector<std::string>& all) const {
    return all.empty() ? "1" : fmt::format("{}", fmt::join(all, " * "));
  }

  // One thread per output element, or, with several slices, per slice of an element's sum.
  void write_box_kernel() {
    std::vector<int> outputs = output_indices(), sums = sum_indices();
    writer_.open("__global__ void compute(const Arguments a, Int elements, Int slices)");
    writer_.open("for (Int n = number_of_thread(); n < elements * slices; n += count_of_threads())");
    line("Int rest = n;");
    for (auto v = outputs.rbegin(); v != outputs.rend(); ++v) {
      line(fmt::format("const Int {} = {} + rest % {};", name(*v), lo(*v), count(*v)));
      line(fmt::format("rest /= {};", count(*v)));
    }
    line("C sum = C(0);");
    for (size_t s = 0; s < sums.size(); ++s) {
      int v = sums[s];
      writer_.open(fmt::format("for (Int {0} = {1}{2}; {0} < {1} + {3}; {4})", name(v), lo(v), s == 0 ? " + rest" : "",
                               count(v), s == 0 ? fmt::format("{} += slices", name(v)) : fmt::format("++{}", name(v))));
    }
    write_terms();
    for (size_t s = 0; s < sums.size(); ++s) writer_.close();
    write_sum("slices > 1");
    writer_.close();
    writer_.close();
  }

  // ---- any nest ----

  bool moves_output(int loop) const {
    const std::vector<int>& indices = compute_.operands[0].indices;
    return std::any_of(indices.begin(), indices.end(), [&](int index) -> bool {
      return recovered_from(stage_.space.derivations, stage_.space.size(), index)[static_cast<size_t>(loop)];
    });
  }

  // Loops that select the output element become threads, the others stay loops. Two threads may still have the same
  // element: a collapsed loop can combine a loop of the output with one of a sum. So sums are added atomically.
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
    write_sum("true");
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
      line(fmt::format(
          "{}sum {} {};", conditions.empty() ? "" : fmt::format("if ({}) ", fmt::join(conditions, " && ")),
          term.negated ? "-=" : "+=", expression_text(term, type_, [&](int operand) { return element(operand); })));
    }
  }

  void write_sum(const std::string& shared) {
    line(compute_.accumulate ? fmt::format("add({}, sum, {});", element(0), shared)
                             : fmt::format("{} = T(sum);", element(0)));
  }

  // ---- the function ----

  void write_start() {
    std::string begin = fmt::format("extern \"C\" void {}(", function_);
    line(begin + "const Int* numbers, void* const* data, const Int* const* stride,");
    writer_.open(std::string(begin.size(), ' ') + "CUstream_st* stream)");
    line("Arguments a;");
    set_arguments();
    std::vector<std::string> factors;
    if (box_) {
      for (int v : output_indices()) factors.push_back(count(v));
    } else {
      for (int v : loops_) {
        if (moves_output(v) || !compute_.accumulate) factors.push_back(extent(v));
      }
    }
    line(fmt::format("const Int elements = {};", product(factors)));
    if (box_) {
      std::vector<int> sums = sum_indices();
      line(fmt::format("const Int slices = {};",
                       sums.empty() ? "1" : fmt::format("slices_for(elements, {})", count(sums[0]))));
      line("launch(compute, elements * slices, stream, a, elements, slices);");
    } else {
      line("if (elements > 0) launch(compute, elements, stream, a, elements);");
    }
    writer_.close();
  }

  void set_arguments() {
    if (numbers() > 0) {
      writer_.open(fmt::format("for (int v = 0; v < {}; ++v)", numbers()));
      line(box_ ? "a.lo[v] = numbers[2 * v];" : "a.extent[v] = numbers[v];");
      line(box_ ? "a.count[v] = numbers[2 * v + 1];" : fmt::format("a.value[v] = numbers[{} + v];", numbers()));
      writer_.close();
    }
    for (size_t o = 0; o < compute_.operands.size(); ++o) {
      line(fmt::format("a.p{0} = static_cast<{1}T*>(data[{0}]);", o, o == 0 ? "" : "const "));
      size_t dimensions = compute_.operands[o].indices.size();
      if (dimensions > 0) line(fmt::format("for (int d = 0; d < {0}; ++d) a.s{1}[d] = stride[{1}][d];", dimensions, o));
    }
  }

  const Stage& stage_;
  ElementType type_;
  const std::vector<int>& output_order_;
  const std::string& function_;
  const Compute& compute_;
  std::optional<LeafBox> box_;
  const std::vector<int>& loops_;
  TextWriter writer_;
};

}  // namespace

std::string gpu_kernel_source(const Stage& stage, ElementType type, const std::vector<int>& output_order,
                              const std::string& function) {
  return KernelWriter(stage, type, output_order, function).run();
}

}  // namespace distal::core
