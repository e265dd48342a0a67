#include "leaf/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "leaf/compile.h"
#include "leaf/cpp_text.h"
#include "leaf/nest.h"
#include "leaf/share.h"

namespace distal::core {

namespace {

bool is_parallel(const LeafPart& part) {
  return std::any_of(part.marks.begin(), part.marks.end(),
                     [](const LoopMark& m) { return m.kind == LoopMark::Kind::Parallel; });
}

// The loops that the team may share. None if the schedule itself asks for threads, which are then OpenMP's.
std::vector<int> loops_for_team(const LeafTask& task, const LeafNest& nest) {
  if (is_parallel(*task.part)) return {};
  return loops_to_share(task.space, nest, task.part->compute()->operands[0].indices);
}

class Generator {
 public:
  Generator(const LeafTask& task, ElementType type, const std::string& function)
      : function_(function),
        stage_(*task.stage),
        type_(type),
        part_(*task.part),
        compute_(*task.part->compute()),
        known_(known_before(task.space, task.loops)),
        nest_(make_leaf_nest(task.space, task.loops)),
        shared_(loops_for_team(task, nest_)) {}

  std::string run() {
    out_ += fmt::format("// {}\n#include <complex>\n#include <cstdint>\n\n", assignment_text(compute_.assignment));
    out_ += fmt::format("using T = {};\nusing C = {};\nusing Int = std::int64_t;\n\n", cpp_type(type_),
                        computing_type(type_));
    if (has_reducing_loop()) {
      out_ +=
          "#pragma omp declare reduction(plus : C : omp_out = C(omp_out + omp_in)) initializer(omp_priv = C(0))\n\n";
    }
    std::string head = fmt::format("extern \"C\" void {}(", function_);
    out_ += fmt::format(
        "{}const Int* extent, const Int* value, void* const* data, const Int* offset,\n"
        "{}const Int* const* stride, const Int* first, const Int* last) {{\n",
        head, std::string(head.size(), ' '));
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
  // The user's names may be C++ keywords, so every variable gets a prefix.
  std::string name(int v) const { return "v_" + stage_.space.names[v]; }
  static std::string extent(int v) { return fmt::format("extent[{}]", v); }

  void declare_operands() {
    for (size_t a = 0; a < compute_.operands.size(); ++a) {
      const char* constant = a == 0 ? "" : "const ";
      line(fmt::format("{0}T* __restrict p{1} = static_cast<{0}T*>(data[{1}]) + offset[{1}];", constant, a));
      for (size_t d = 0; d < compute_.operands[a].indices.size(); ++d) {
        line(fmt::format("const Int s{0}_{1} = stride[{0}][{1}];", a, d));
      }
    }
  }

  void declare_fixed() {
    for (int v = 0; v < stage_.space.size(); ++v) {
      if (known_[v]) line(fmt::format("[[maybe_unused]] const Int {} = value[{}];", name(v), v));
    }
  }

  // Computes the derived variables that become known at this depth, and skips iterations past their end. Outside of all
  // loops such an iteration ends the leaf.
  void recover(size_t depth) {
    const char* skip = depth == 0 ? "return" : "continue";
    for (const Derivation& d : nest_.recovered[depth]) {
      for (const std::string& text : recovery_text(
               d, [&](int v) { return name(v); }, extent))
        line(text);
      std::optional<Clip> clip = clip_of(d);
      if (clip && !is_bounded_by_loop(*clip, depth))
        line(fmt::format("if ({} >= {}) {};", name(clip->variable), extent(clip->variable), skip));
    }
  }

  // A tile whose inner loop is the innermost one so far needs no test: end_of_loop bounds the loop.
  bool is_bounded_by_loop(const Clip& clip, size_t depth) const {
    return depth > 0 && nest_.loops[depth - 1] == clip.inside;
  }

  bool is_shared(int loop) const { return std::find(shared_.begin(), shared_.end(), loop) != shared_.end(); }

  std::string begin_of_loop(int v) const { return is_shared(v) ? fmt::format("first[{}]", v) : "0"; }

  std::string end_of_loop(size_t depth) const {
    int v = nest_.loops[depth];
    std::string end = is_shared(v) ? fmt::format("last[{}]", v) : extent(v);
    for (const Derivation& d : nest_.recovered[depth + 1]) {
      std::optional<Clip> clip = clip_of(d);
      if (!clip || clip->inside != v) continue;
      std::string left = fmt::format("{} - {} * {}", extent(clip->variable), name(clip->tile), extent(v));
      return fmt::format("({0} < {1} ? {0} : {1})", end, left);
    }
    return end;
  }

  void loop(size_t depth) {
    if (depth == nest_.loops.size()) return point();
    int v = nest_.loops[depth];
    line(fmt::format("const Int end_{} = {};", stage_.space.names[v], end_of_loop(depth)));
    const LoopMark* mark = mark_of(v);
    std::string total = "total_" + stage_.space.names[v], outer_sink = sink_;
    bool reduces = mark && is_reducing(*mark);
    if (reduces) {
      line(fmt::format("C {} = C(0);", total));
      sink_ = total;
    }
    if (mark) line(pragma(*mark, reduces ? fmt::format(" reduction(plus : {})", total) : ""));
    line(fmt::format("for (Int {0} = {1}; {0} < end_{2}; ++{0}) {{", name(v), begin_of_loop(v), stage_.space.names[v]));
    ++indent_;
    recover(depth + 1);
    loop(depth + 1);
    --indent_;
    line("}");
    sink_ = outer_sink;
    if (reduces) add(total);
  }

  const LoopMark* mark_of(int loop) const {
    for (const LoopMark& m : part_.marks) {
      if (m.loop == loop) return &m;
    }
    return nullptr;
  }

  // Whether each thread or SIMD lane of the loop has a sum of its own, which OpenMP adds at the end.
  bool is_reducing(const LoopMark& m) const {
    if (m.kind == LoopMark::Kind::Parallel) return m.race == OutputRace::Reduction;
    return m.kind == LoopMark::Kind::Vectorize && !moves_output(m.loop);
  }

  bool moves_output(int loop) const {
    for (int index : compute_.operands[0].indices) {
      if (recovered_from(stage_.space.derivations, stage_.space.size(), index)[loop]) return true;
    }
    return false;
  }

  bool has_reducing_loop() const {
    return std::any_of(part_.marks.begin(), part_.marks.end(), [&](const LoopMark& m) { return is_reducing(m); });
  }

  bool has_atomics() const {
    return std::any_of(part_.marks.begin(), part_.marks.end(),
                       [](const LoopMark& m) { return m.race == OutputRace::Atomics; });
  }

  std::string pragma(const LoopMark& m, const std::string& reduction) const {
    switch (m.kind) {
      case LoopMark::Kind::Parallel: return "#pragma omp parallel for" + reduction;
      case LoopMark::Kind::Vectorize: return "#pragma omp simd" + reduction;
      case LoopMark::Kind::Unroll:
        return fmt::format("#pragma GCC unroll {}", std::min<int64_t>(stage_.unroll.at(m.loop), 65534));
    }
    throw InternalError("unknown mark");
  }

  // Adds a sum to the sum of an enclosing loop, or to the output.
  void add(const std::string& sum) {
    if (!sink_.empty()) return line(fmt::format("{0} = C({0} + {1});", sink_, sum));
    std::string out = element(0);
    if (!has_atomics()) return line(fmt::format("{0} = T(C({0}) + {1});", out, sum));
    if (!is_complex(type_)) {
      line("#pragma omp atomic");
      return line(fmt::format("reinterpret_cast<C&>({}) += {};", out, sum));
    }
    for (const char* side : {"real", "imag"}) {  // a complex sum is two real ones
      line("#pragma omp atomic");
      line(
          fmt::format("reinterpret_cast<C::value_type*>(&{})[{}] += {}.{}();", out, side[0] == 'r' ? 0 : 1, sum, side));
    }
  }

  std::string element(int operand) const {
    std::vector<std::string> parts;
    const std::vector<int>& indices = compute_.operands[operand].indices;
    for (size_t d = 0; d < indices.size(); ++d)
      parts.push_back(fmt::format("{} * s{}_{}", name(indices[d]), operand, d));
    return fmt::format("p{}[{}]", operand, parts.empty() ? "0" : fmt::format("{}", fmt::join(parts, " + ")));
  }

  std::string expression(const LeafTerm& term) const {
    return expression_text(term, type_, [&](int operand) { return element(operand); });
  }

  void point() {
    line("C sum = C(0);");
    for (const LeafTerm& term : compute_.terms) {
      std::string condition;
      for (int v : term.only_at_zero) condition += fmt::format("{}{} == 0", condition.empty() ? "" : " && ", name(v));
      std::string guard = condition.empty() ? "" : fmt::format("if ({}) ", condition);
      line(fmt::format("{}sum {} {};", guard, term.negated ? "-=" : "+=", expression(term)));
    }
    if (compute_.accumulate) return add("sum");
    line(fmt::format("{} = T(sum);", element(0)));
  }

  const std::string& function_;
  const StagePlan& stage_;
  ElementType type_;
  const LeafPart& part_;
  const Compute& compute_;
  std::vector<bool> known_;
  LeafNest nest_;
  std::vector<int> shared_;
  std::string sink_;  // the variable that add() adds to: the sum of an enclosing loop; empty: the output
  std::string out_;
  int indent_ = 0;
};

class GeneratedLeaf : public LeafKernel {
 public:
  GeneratedLeaf(const LeafTask& task, CompiledLeaf code)
      : extents_(task.stage->space.extents),
        operands_(task.part->compute()->operands),
        accumulate_(task.part->compute()->accumulate),
        shared_(loops_for_team(task, make_leaf_nest(task.space, task.loops))),
        first_(extents_.size(), 0),
        last_(extents_),
        code_(std::move(code)) {
    for (int v : task.loops) {
      last_[v] = iterations_of(task.space, v);
      points_ *= static_cast<double>(last_[v]);
    }
  }

  bool can_overwrite() const override { return !accumulate_; }

  void run(const LeafArguments& arguments) const override {
    int64_t threads = arguments.team ? arguments.team->size() : 1;
    std::optional<int> loop = loop_to_cut(threads);
    if (!loop) return run_part(arguments, first_, last_);
    auto part = [&](int i) {
      std::vector<int64_t> first = first_, last = last_;
      IterationRange mine = thread_range(last_[*loop], i, threads);
      first[*loop] = mine.first;
      last[*loop] = mine.last;
      run_part(arguments, first, last);
    };
    arguments.team->run(part);
  }

  std::string description() const override { return code_.from_cache ? "generated (cached)" : "generated (compiled)"; }

 private:
  void run_part(const LeafArguments& arguments, const std::vector<int64_t>& first,
                const std::vector<int64_t>& last) const {
    size_t n = operands_.size();
    absl::InlinedVector<void*, 8> data(n);
    absl::InlinedVector<int64_t, 8> offsets(n);
    absl::InlinedVector<const int64_t*, 8> strides(n);
    for (size_t a = 0; a < n; ++a) {
      const View& view = arguments.operands[operands_[a].number];
      data[a] = view.data;
      offsets[a] = view.offset;
      strides[a] = view.strides.data();
    }
    code_.function<NestFunction>()(extents_.data(), arguments.values.data(), data.data(), offsets.data(),
                                   strides.data(), first.data(), last.data());
  }

  // The outermost loop with enough iterations to balance the threads, or else the longest loop. Nothing if the leaf is
  // too small to be shared.
  std::optional<int> loop_to_cut(int64_t threads) const {
    if (threads == 1 || points_ < kWorthSharing) return std::nullopt;
    std::optional<int> longest;
    for (int v : shared_) {
      if (last_[v] >= kBalancedIterations * threads) return v;
      if (last_[v] > (longest ? last_[*longest] : 1)) longest = v;
    }
    return longest;
  }

  std::vector<int64_t> extents_;
  std::vector<LeafOperand> operands_;
  bool accumulate_;
  std::vector<int> shared_;            // loops that threads may share
  std::vector<int64_t> first_, last_;  // the iterations of a single thread, by variable
  double points_ = 1;
  CompiledLeaf code_;
};

}  // namespace

std::string generate_source(const LeafTask& task, ElementType type, const std::string& function) {
  return Generator(task, type, function).run();
}

std::unique_ptr<LeafKernel> make_generated_leaf(const LeafTask& task, ElementType type, bool strict) {
  CompileOptions options{.openmp = is_parallel(*task.part), .reassociate = !strict};
  return std::make_unique<GeneratedLeaf>(task, compile_leaf(generate_source(task, type), options));
}

}  // namespace distal::core
