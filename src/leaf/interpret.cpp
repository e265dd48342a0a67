#include "leaf/interpret.h"

#include <algorithm>

#include "leaf/nest.h"
#include "support/checked.h"

namespace distal::core {

namespace {

// The right side as instructions for a small stack machine.
struct Instruction {
  enum class Op { Load, Constant, Negate, Add, Subtract, Multiply } op;
  int operand = 0;
  double constant = 0;
};

std::vector<Instruction> compile(const LeafTerm& term) {
  using Op = Instruction::Op;
  std::vector<Instruction> out;
  int operand = term.first_operand;
  fold(term.expr,
       Overloaded{[&](const Access&) {
                    out.push_back({Op::Load, operand++, 0});
                  },
                  [&](const Literal& l) {
                    out.push_back({Op::Constant, 0, l.value});
                  },
                  [&](const Negate&) {
                    out.push_back({Op::Negate, 0, 0});
                  },
                  [&](const Binary& b) {
                    Op op = b.op == BinaryOp::Add ? Op::Add : b.op == BinaryOp::Subtract ? Op::Subtract : Op::Multiply;
                    out.push_back({op, 0, 0});
                  }});
  return out;
}

struct CompiledTerm {
  bool negated;
  std::vector<int> only_at_zero;
  std::vector<Instruction> code;
};

template <class T>
class InterpretedLeaf : public LeafKernel {
 public:
  InterpretedLeaf(const LeafTask& task, std::string description)
      : description_(std::move(description)),
        space_(task.space),
        nest_(make_leaf_nest(task.space, task.loops)),
        operands_(task.part->compute()->operands),
        accumulate_(task.part->compute()->accumulate) {
    for (const LeafTerm& term : task.part->compute()->terms) {
      terms_.push_back({term.negated, term.only_at_zero, compile(term)});
    }
  }

  bool can_overwrite() const override { return !accumulate_; }

  void run(const LeafArguments& arguments) const override {
    Frame frame{arguments.operands, arguments.values, {}};
    if (recover(frame, 0)) loop(frame, 0);
  }

  std::string description() const override { return description_; }

 private:
  struct Frame {
    const std::vector<View>& operands;
    std::vector<int64_t> values;
    std::vector<T> stack;
  };

  bool recover(Frame& frame, size_t depth) const {
    auto recover = [&](const auto& d) { return d.recover(space_.extents, frame.values); };
    for (const Derivation& d : nest_.recovered[depth]) {
      if (!std::visit(recover, d)) return false;
    }
    return true;
  }

  // The end of a loop without the iterations past the end of its parent. These may be very many: a chunk may be far
  // larger than the loop that was split, and there may be far more chunks than elements.
  int64_t end_of_loop(const Frame& frame, size_t depth) const {
    int v = nest_.loops[depth];
    int64_t end = iterations_of(space_, v);
    for (const Derivation& d : nest_.recovered[depth + 1]) {
      std::optional<Clip> clip = clip_of(d);
      if (clip && clip->inside == v)
        end = std::min(end, space_.extents[clip->variable] - frame.values[clip->tile] * space_.extents[v]);
    }
    return end;
  }

  void loop(Frame& frame, size_t depth) const {
    if (depth == nest_.loops.size()) return point(frame);
    int64_t end = end_of_loop(frame, depth);
    for (int64_t x = 0; x < end; ++x) {
      frame.values[nest_.loops[depth]] = x;
      if (recover(frame, depth + 1)) loop(frame, depth + 1);
    }
  }

  T& element(const Frame& frame, int operand) const {
    const View& view = frame.operands[operands_[operand].number];
    int64_t offset = view.offset;
    const std::vector<int>& indices = operands_[operand].indices;
    for (size_t d = 0; d < indices.size(); ++d) offset += frame.values[indices[d]] * view.strides[d];
    return reinterpret_cast<T*>(view.data)[offset];
  }

  void point(Frame& frame) const {
    T sum{};
    for (const CompiledTerm& term : terms_) {
      bool contributes = true;
      for (int v : term.only_at_zero) contributes = contributes && frame.values[v] == 0;
      if (!contributes) continue;
      T value = evaluate(frame, term.code);
      sum = wrapping_add(sum, term.negated ? wrapping_negate(value) : value);
    }
    T& out = element(frame, 0);
    out = accumulate_ ? wrapping_add(out, sum) : sum;
  }

  T evaluate(Frame& frame, const std::vector<Instruction>& code) const {
    using Op = Instruction::Op;
    std::vector<T>& stack = frame.stack;
    stack.clear();
    for (const Instruction& i : code) {
      if (i.op == Op::Load) {
        stack.push_back(element(frame, i.operand));
      } else if (i.op == Op::Constant) {
        stack.push_back(static_cast<T>(i.constant));
      } else if (i.op == Op::Negate) {
        stack.back() = wrapping_negate(stack.back());
      } else {
        T right = stack.back();
        stack.pop_back();
        T& left = stack.back();
        if (i.op == Op::Multiply) left = wrapping_multiply(left, right);
        if (i.op == Op::Add) left = wrapping_add(left, right);
        if (i.op == Op::Subtract) left = wrapping_add(left, wrapping_negate(right));
      }
    }
    return stack.back();
  }

  std::string description_;
  IterationSpace<int64_t> space_;
  LeafNest nest_;
  std::vector<LeafOperand> operands_;
  bool accumulate_;
  std::vector<CompiledTerm> terms_;
};

}  // namespace

std::unique_ptr<LeafKernel> make_interpreted_leaf(const LeafTask& task, ElementType type, std::string description) {
  return with_element_type(type, [&](auto zero) -> std::unique_ptr<LeafKernel> {
    return std::make_unique<InterpretedLeaf<decltype(zero)>>(task, std::move(description));
  });
}

}  // namespace distal::core
