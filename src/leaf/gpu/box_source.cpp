#include "leaf/gpu/box_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "leaf/cpp_text.h"
#include "leaf/gpu/gpu_box.h"
#include "leaf/gpu/gpu_steps.h"
#include "leaf/gpu/kernel_source.h"
#include "support/text_writer.h"

namespace distal::core {

namespace {

// The struct that says what a kernel computes at a point.
class LeafWriter {
 public:
  LeafWriter(TextWriter& writer, const Stage& stage, ElementType type, const Compute& compute, const GpuBox& box,
             bool adds, bool is_rest = false)
      : writer_(writer), stage_(stage), type_(type), compute_(compute), box_(box), adds_(adds), is_rest_(is_rest) {}

  // A box without an index gets one, which has one value.
  size_t indices() const { return std::max<size_t>(box_.indices.size(), 1); }

  void open(const std::string& name) {
    if (!box_.indices.empty()) {
      line(fmt::format("// The output has the indices ({}), the sums have ({}). Neighbouring threads run along {}.",
                       names(0, box_.outputs), names(box_.outputs, box_.indices.size()),
                       index_name(box_.inner_index())));
    }
    writer_.open("struct " + name);
    write_kernel_types(writer_, type_);
    const size_t outputs = box_.indices.empty() ? 1 : box_.outputs;
    line(fmt::format("static constexpr int kOperands = {}, kOutputs = {}, kIndices = {}, kInner = {}, kReused = {};",
                     compute_.operands.size(), outputs, indices(), box_.inner, box_.reused));
    line(fmt::format("static constexpr unsigned kAlongInner = {}, kAlongReused = {};",
                     operands_with(static_cast<int>(box_.inner)), operands_with(box_.reused)));
    const bool conditions = std::any_of(compute_.terms.begin(), compute_.terms.end(),
                                        [](const LeafTerm& t) { return !t.only_at_zero.empty(); });
    line(fmt::format("static constexpr bool kAdds = {}, kHasConditions = {};", adds_, conditions));
    const std::vector<std::string> params = is_rest_ ? std::vector<std::string>() : params_as_numbers(statement());
    line(fmt::format("static constexpr int kParams = {};{}", params.size(),
                     params.empty() ? "" : fmt::format("  // {}", fmt::join(params, ", "))));
    line("");
    writer_.open("static __device__ C value(const C (&x)[kOperands], const Int (&at)[kIndices], const Int* param)");
  }
  void close() {
    writer_.close();
    writer_.close("};");
  }

 private:
  void line(const std::string& text) { writer_.line(text); }
  const Statement& statement() const { return stage_.source.statement; }
  const std::string& index_name(int v) const { return stage_.space.names[static_cast<size_t>(v)]; }

  std::string names(size_t first, size_t last) const {
    std::vector<std::string> out;
    for (size_t v = first; v < last; ++v) out.push_back(index_name(box_.indices[v]));
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

  TextWriter& writer_;
  const Stage& stage_;
  ElementType type_;
  const Compute& compute_;
  const GpuBox& box_;
  bool adds_, is_rest_;
};

class BoxWriter {
 public:
  BoxWriter(const Stage& stage, ElementType type, const StorageOrders& orders, const std::string& function)
      : stage_(stage),
        type_(type),
        function_(function),
        compute_(*leaf_of(stage).root.compute()),
        given_(*leaf_box(stage)),
        box_(choose_gpu_box(compute_, orders)),
        plan_(choose_gpu(stage, type, orders)),
        steps_(choose_gpu_steps(with_ones_for_params(compute_), orders, type)),
        params_(params_as_numbers(stage.source.statement)) {
    if (steps_) rest_ = choose_gpu_box(steps_->rest, steps_->rest_orders);
  }

  std::string run() {
    std::vector<std::string> headers{"sums.h"};
    if (plan_.blas_scale) headers.emplace_back("packed_product.h");
    if (steps_) headers.emplace_back("steps.h");
    write_kernel_head(writer_, assignment_text(compute_.assignment), headers);
    LeafWriter leaf(writer_, stage_, type_, compute_, box_, compute_.accumulate && !plan_.overwrites);
    leaf.open("Leaf");
    write_terms();
    leaf.close();
    if (steps_) write_rest();
    line("");
    line("}  // namespace");
    line("");
    write_start(leaf.indices());
    return writer_.text();
  }

 private:
  void line(const std::string& text) { writer_.line(text); }

  void write_rest() {
    line("");
    line(fmt::format("// The product of operands {} and {} with the others.", steps_->left, steps_->right));
    LeafWriter rest(writer_, stage_, type_, steps_->rest, rest_, true, true);
    rest.open("Rest");
    std::vector<std::string> factors;
    for (size_t o = 1; o < steps_->rest.operands.size(); ++o) factors.push_back(fmt::format("x[{}]", o));
    line(fmt::format("return {};", fmt::join(factors, " * ")));
    rest.close();
  }

  void write_terms() {
    auto text = [&](const LeafTerm& t) {
      return expression_text(
          t, type_, [](int operand) { return fmt::format("x[{}]", operand); },
          [&](const std::string& name) { return fmt::format("param[{}]", number_of(name)); });
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

  size_t number_of(const std::string& param) const {
    return static_cast<size_t>(std::find(params_.begin(), params_.end(), param) - params_.begin());
  }

  // The scale of a product: a number, times its params.
  std::string scale_text(double scale) const {
    std::string out = fmt::format("{}", scale);
    for (const std::string& name : params_of(compute_.terms[0])) {
      out += fmt::format(" * static_cast<double>(box.param[{}])", number_of(name));
    }
    return out;
  }

  // ---- the function ----

  void write_start(size_t indices) {
    std::string begin = fmt::format("extern \"C\" int {}(", function_);
    line(begin + "const Int* numbers, void* const* data, const Int* const* stride,");
    writer_.open(std::string(begin.size(), ' ') + "const Device& device)");
    write_box(indices);
    if (plan_.blas_scale || steps_) line("int status = 0;");
    if (plan_.blas_scale)
      line(fmt::format("if (multiply(box, device, {}, status)) return status;", scale_text(*plan_.blas_scale)));
    if (steps_) {
      line(fmt::format("const Steps<Leaf, Rest> steps{{{}, {}, {{{}}}, {{{}}}, {{{}}}}};", steps_->left, steps_->right,
                       fmt::join(places(steps_->product_indices, indices), ", "),
                       fmt::join(places(rest_.indices, rest_.indices.size()), ", "),
                       fmt::join(steps_->rest_operands, ", ")));
      line(fmt::format("if (multiply_in_steps(box, device, steps, {}, status)) return status;",
                       scale_text(steps_->scale)));
    }
    line("compute_box(box, device);");
    line("return 0;");
    writer_.close();
  }

  // The places of indices in the leaf, and -1 until there are `count`.
  std::vector<int> places(const std::vector<int>& indices, size_t count) const {
    std::vector<int> out(count, -1);
    std::transform(indices.begin(), indices.end(), out.begin(),
                   [&](int v) { return static_cast<int>(box_.position(v)); });
    return out;
  }

  void write_box(size_t indices) {
    std::vector<std::string> numbers, dimensions;
    for (size_t v = 0; v < indices; ++v) {
      numbers.push_back(v < box_.indices.size() ? fmt::format("{}", given_.position(box_.indices[v])) : "-1");
    }
    size_t most = 1;
    for (const LeafOperand& o : compute_.operands) most = std::max(most, o.indices.size());
    for (const LeafOperand& o : compute_.operands) {
      dimensions.push_back(fmt::format("{{{}}}", fmt::join(places(o.indices, most), ", ")));
    }
    line(fmt::format("const int number_of[] = {{{}}}, dimensions[][{}] = {{{}}};", fmt::join(numbers, ", "), most,
                     fmt::join(dimensions, ", ")));
    line(fmt::format("const Box<Leaf> box(numbers, data, stride, number_of, dimensions, numbers + {});",
                     2 * given_.indices.size()));
  }

  const Stage& stage_;
  ElementType type_;
  const std::string& function_;
  const Compute& compute_;
  const LeafBox given_;
  const GpuBox box_;
  const GpuPlan plan_;
  const std::optional<GpuSteps> steps_;
  const std::vector<std::string> params_;
  GpuBox rest_;
  TextWriter writer_;
};

}  // namespace

std::string gpu_box_source(const Stage& stage, ElementType type, const StorageOrders& orders,
                           const std::string& function) {
  return BoxWriter(stage, type, orders, function).run();
}

}  // namespace distal::core
