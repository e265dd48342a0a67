#include "leaf/gpu/box_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "leaf/cpp_text.h"
#include "leaf/gpu/gpu_box.h"
#include "leaf/gpu/kernel_source.h"
#include "support/text_writer.h"

namespace distal::core {

namespace {

class BoxWriter {
 public:
  BoxWriter(const Stage& stage, ElementType type, const StorageOrders& orders, const std::string& function)
      : stage_(stage),
        type_(type),
        function_(function),
        compute_(gpu_compute(stage)),
        given_(*leaf_box(stage)),
        box_(choose_gpu_box(compute_, orders)),
        plan_(choose_gpu(stage, type, orders)) {}

  std::string run() {
    std::vector<std::string> headers{"sums.h"};
    if (plan_.blas_scale) headers.emplace_back("product.h");
    write_kernel_head(writer_, compute_, headers);
    write_leaf();
    line("");
    line("}  // namespace");
    line("");
    write_start();
    return writer_.text();
  }

 private:
  void line(const std::string& text) { writer_.line(text); }
  const std::string& name(int v) const { return stage_.space.names[static_cast<size_t>(v)]; }
  // A box without an index gets one, which has one value.
  size_t indices() const { return std::max<size_t>(box_.indices.size(), 1); }
  size_t outputs() const { return box_.indices.empty() ? 1 : box_.outputs; }

  std::string names(size_t first, size_t last) const {
    std::vector<std::string> out;
    for (size_t v = first; v < last; ++v) out.push_back(name(box_.indices[v]));
    return fmt::format("{}", fmt::join(out, ", "));
  }

  // One bit for each operand that has the index, operand 0 the last.
  std::string operands_with(int place) const {
    std::string out = "0b";
    for (size_t o = compute_.operands.size(); o-- > 0;) {
      bool has = place >= 0 && static_cast<size_t>(place) < box_.indices.size() &&
                 has_index(compute_.operands[o], box_.indices[static_cast<size_t>(place)]);
      out += has ? '1' : '0';
    }
    return out;
  }

  void write_leaf() {
    if (!box_.indices.empty()) {
      line(fmt::format("// The output has the indices ({}), the sums have ({}). Neighbouring threads run along {}.",
                       names(0, box_.outputs), names(box_.outputs, box_.indices.size()), name(box_.inner_index())));
    }
    writer_.open("struct Leaf");
    write_kernel_types(writer_, type_);
    line(fmt::format("static constexpr int kOperands = {}, kOutputs = {}, kIndices = {}, kInner = {}, kReused = {};",
                     compute_.operands.size(), outputs(), indices(), box_.inner, box_.reused));
    line(fmt::format("static constexpr unsigned kAlongInner = {}, kAlongReused = {};",
                     operands_with(static_cast<int>(box_.inner)), operands_with(box_.reused)));
    const bool conditions = std::any_of(compute_.terms.begin(), compute_.terms.end(),
                                        [](const LeafTerm& t) { return !t.only_at_zero.empty(); });
    line(fmt::format("static constexpr bool kAdds = {}, kHasConditions = {};", compute_.accumulate, conditions));
    line("");
    writer_.open("static __device__ C value(const C (&x)[kOperands], const Int (&at)[kIndices])");
    write_terms();
    writer_.close();
    writer_.close("};");
  }

  void write_terms() {
    auto text = [&](const LeafTerm& t) {
      return expression_text(t, type_, [](int operand) { return fmt::format("x[{}]", operand); });
    };
    const LeafTerm& only = compute_.terms[0];
    if (compute_.terms.size() == 1 && only.only_at_zero.empty()) {
      return line(fmt::format("return {}{};", only.negated ? "C(0) - " : "", text(only)));
    }
    line("C sum = C(0);");
    for (const LeafTerm& t : compute_.terms) {
      std::vector<std::string> conditions;
      for (int v : t.only_at_zero) conditions.push_back(fmt::format("at[{}] == 0", box_.position(v)));
      line(fmt::format("{}sum {} {};", conditions.empty() ? "" : fmt::format("if ({}) ", fmt::join(conditions, " && ")),
                       t.negated ? "-=" : "+=", text(t)));
    }
    line("return sum;");
  }

  // ---- the function ----

  void write_start() {
    std::string begin = fmt::format("extern \"C\" int {}(", function_);
    line(begin + "const Int* numbers, void* const* data, const Int* const* stride,");
    writer_.open(std::string(begin.size(), ' ') + "const Device& device)");
    write_box();
    if (plan_.blas_scale) {
      line("int status = 0;");
      line(fmt::format("if (multiply(box, device, {}, status)) return status;", *plan_.blas_scale));
    }
    line("compute_box(box, device);");
    line("return 0;");
    writer_.close();
  }

  void write_box() {
    std::vector<std::string> numbers, dimensions;
    for (size_t v = 0; v < indices(); ++v) {
      numbers.push_back(v < box_.indices.size() ? fmt::format("{}", given_.position(box_.indices[v])) : "-1");
    }
    size_t most = 1;
    for (const LeafOperand& o : compute_.operands) most = std::max(most, o.indices.size());
    for (const LeafOperand& o : compute_.operands) {
      std::vector<int> all(most, -1);
      std::transform(o.indices.begin(), o.indices.end(), all.begin(),
                     [&](int v) { return static_cast<int>(box_.position(v)); });
      dimensions.push_back(fmt::format("{{{}}}", fmt::join(all, ", ")));
    }
    line(fmt::format("const int number_of[] = {{{}}}, dimensions[][{}] = {{{}}};", fmt::join(numbers, ", "), most,
                     fmt::join(dimensions, ", ")));
    line("const Box<Leaf> box(numbers, data, stride, number_of, dimensions);");
  }

  const Stage& stage_;
  ElementType type_;
  const std::string& function_;
  const Compute& compute_;
  const LeafBox given_;
  const GpuBox box_;
  const GpuPlan plan_;
  TextWriter writer_;
};

}  // namespace

std::string gpu_box_source(const Stage& stage, ElementType type, const StorageOrders& orders,
                           const std::string& function) {
  return BoxWriter(stage, type, orders, function).run();
}

}  // namespace distal::core
