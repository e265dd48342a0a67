#include "leaf/gpu/loops_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "leaf/cpp_text.h"
#include "leaf/gpu/gpu_leaf.h"

namespace distal::core {

bool selects_output(const Compute& compute, const IterationSpace<int64_t>& space, int loop) {
  const std::vector<int>& indices = compute.operands[0].indices;
  return std::any_of(indices.begin(), indices.end(), [&](int index) -> bool {
    return recovered_from(space.derivations, space.size(), index)[static_cast<size_t>(loop)];
  });
}

ThreadLoops thread_loops(const Compute& compute, IterationSpace<int64_t> space, const std::vector<int>& loops) {
  ThreadLoops out{std::move(space), {}, {}};
  for (int v : loops) {
    const bool is_thread = !compute.accumulate || selects_output(compute, out.space, v);
    (is_thread ? out.threads : out.inner).push_back(v);
  }
  return out;
}

LoopsText::LoopsText(const Stage& stage, ElementType type, TextWriter& writer)
    : stage_(stage),
      leaf_(leaf_of(stage)),
      type_(type),
      params_(params_as_numbers(stage.source.statement)),
      writer_(writer) {}

std::string LoopsText::extent(int v) { return fmt::format("a.extent[{}]", v); }

std::string LoopsText::iterations(const std::vector<int>& loops) {
  std::vector<std::string> factors;
  for (int v : loops) factors.push_back(extent(v));
  return factors.empty() ? "1" : fmt::format("{}", fmt::join(factors, " * "));
}

// ---- arguments ----

void LoopsText::declare_arguments(const std::vector<std::string>& more) {
  writer_.open("struct Arguments");
  if (stage_.space.size() > 0) {
    line(fmt::format("Int extent[{0}], value[{0}];  // {1}", stage_.space.size(), fmt::join(stage_.space.names, ", ")));
  }
  if (!params_.empty()) line(fmt::format("Int param[{}];  // {}", params_.size(), fmt::join(params_, ", ")));
  for (size_t o = 0; o < leaf_.accesses.size(); ++o) {
    const size_t dimensions = leaf_.accesses[o].indices.size();
    line(fmt::format("{}T* p{};", o == 0 ? "" : "const ", o));
    if (dimensions > 0) line(fmt::format("Int s{}[{}];", o, dimensions));
  }
  for (const std::string& text : more) line(text);
  writer_.close("};");
  line("");
}

void LoopsText::begin_function(const std::string& function) {
  const std::string begin = fmt::format("extern \"C\" int {}(", function);
  line(begin + "const Int* numbers, void* const* data, const Int* const* stride,");
  writer_.open(std::string(begin.size(), ' ') + "const Device& device)");
}

void LoopsText::set_arguments() {
  line("Arguments a;");
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
  for (size_t o = 0; o < leaf_.accesses.size(); ++o) {
    line(fmt::format("a.p{0} = static_cast<{1}T*>(data[{0}]);", o, o == 0 ? "" : "const "));
    const size_t dimensions = leaf_.accesses[o].indices.size();
    if (dimensions > 0) line(fmt::format("for (int d = 0; d < {0}; ++d) a.s{1}[d] = stride[{1}][d];", dimensions, o));
  }
}

// ---- loops ----

void LoopsText::declare_fixed(const std::vector<int>& loops) {
  std::vector<bool> known = known_before(space(), loops);
  for (int v = 0; v < stage_.space.size(); ++v) {
    if (known[static_cast<size_t>(v)]) line(fmt::format("const Int {} = a.value[{}];", name(v), v));
  }
}

void LoopsText::declare_loops(const std::vector<int>& loops, const std::string& number, const std::string& rest) {
  if (!loops.empty()) line(fmt::format("Int {} = {};", rest, number));
  for (auto v = loops.rbegin(); v != loops.rend(); ++v) {
    line(fmt::format("const Int {} = {} % {};", name(*v), rest, extent(*v)));
    line(fmt::format("{} /= {};", rest, extent(*v)));
  }
}

// Recovers variables. An iteration of a tile past the end of its variable is skipped.
void LoopsText::recover(const std::vector<Derivation>& derivations) {
  for (const Derivation& d : derivations) {
    for (const std::string& text : recovery_text(
             d, [&](int v) { return name(v); }, extent))
      line(text);
    if (std::optional<Clip> clip = clip_of(d)) {
      line(fmt::format("if ({} >= {}) continue;", name(clip->variable), extent(clip->variable)));
    }
  }
}

void LoopsText::write_points(const Compute& compute, const ThreadLoops& loops, const std::string& head,
                             bool atomically) {
  std::vector<int> all = loops.threads;
  all.insert(all.end(), loops.inner.begin(), loops.inner.end());
  const LeafNest nest = make_leaf_nest(loops.space, all);
  writer_.open(head);
  declare_loops(loops.threads, "n", "rest");
  for (size_t depth = 0; depth <= loops.threads.size(); ++depth) recover(nest.recovered[depth]);
  line("C sum = C(0);");
  for (size_t i = 0; i < loops.inner.size(); ++i) {
    const int v = loops.inner[i];
    writer_.open(fmt::format("for (Int {0} = 0; {0} < {1}; ++{0})", name(v), extent(v)));
    recover(nest.recovered[loops.threads.size() + i + 1]);
  }
  write_terms(compute);
  for (size_t i = 0; i < loops.inner.size(); ++i) writer_.close();
  const std::string to = element(compute.operands[0]);
  line(compute.accumulate ? fmt::format("{}({}, sum);", atomically ? "add_atomically" : "add", to)
                          : fmt::format("{} = T(sum);", to));
  writer_.close();
}

// ---- a point ----

std::string LoopsText::element(const LeafOperand& operand) const {
  const int workspace = operand.number - static_cast<int>(leaf_.accesses.size());
  const std::string strides =
      workspace < 0 ? fmt::format("a.s{}", operand.number) : fmt::format("a.w{}.stride", workspace);
  std::vector<std::string> parts;
  for (size_t d = 0; d < operand.indices.size(); ++d) {
    parts.push_back(fmt::format("{} * {}[{}]", name(operand.indices[d]), strides, d));
  }
  return fmt::format("{}[{}]", workspace < 0 ? fmt::format("a.p{}", operand.number) : fmt::format("w{}", workspace),
                     parts.empty() ? "0" : fmt::format("{}", fmt::join(parts, " + ")));
}

void LoopsText::write_terms(const Compute& compute) {
  auto operand = [&](int number) { return element(compute.operands[static_cast<size_t>(number)]); };
  auto param = [&](const std::string& name) {
    return fmt::format("a.param[{}]", std::find(params_.begin(), params_.end(), name) - params_.begin());
  };
  for (const LeafTerm& term : compute.terms) {
    std::vector<std::string> conditions;
    for (int v : term.only_at_zero) conditions.push_back(name(v) + " == 0");
    line(fmt::format("{}sum {} {};", conditions.empty() ? "" : fmt::format("if ({}) ", fmt::join(conditions, " && ")),
                     term.negated ? "-=" : "+=", expression_text(term, type_, operand, param)));
  }
}

}  // namespace distal::core
