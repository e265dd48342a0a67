#include "lang/parse_tensor.h"

#include <fmt/format.h>

#include <numeric>

#include "lang/parse_int.h"
#include "lang/parse_machine.h"
#include "lang/read_distribution.h"
#include "lang/resolve_distribution.h"
#include "lang/suggest.h"

namespace distal::core {

namespace {

class TensorParser {
 public:
  TensorParser(TokenStream& tokens, const Module& module) : tokens_(tokens), module_(module) {}

  Tensor run() {
    const Token& name = tokens_.expect_identifier("the name of a tensor");
    tensor_.name = std::string(name.text);
    tensor_.span = name.span;
    if (tokens_.peek().is("[")) {
      tokens_.refuse("`(` and the sizes of the tensor",
                     fmt::format("sizes stand in parentheses, as in `tensor {}(4, 4)`", tensor_.name));
    }
    if (tokens_.peek().is("(")) dimensions();
    format(tokens_.accept(":"));
    return std::move(tensor_);
  }

  // The colon may be left out here, as nothing stands before it.
  Tensor run_format(const Tensor& tensor) {
    tensor_.name = tensor.name;
    tensor_.dimensions = tensor.dimensions;
    tensor_.span = tokens_.peek().span;
    if (tokens_.at_end()) throw Error("the format is empty", {}, "write for instance 'xy -> xy on Grid(2, 2)'");
    bool colon = tokens_.accept(":");
    bool only_clauses = at_clause("on", false) || at_clause("order", true) || at_clause("in", false);
    format(colon || !only_clauses);
    if (!tokens_.at_end()) tokens_.refuse("nothing after the format");
    return std::move(tensor_);
  }

 private:
  void format(bool has_distribution) {
    tensor_.order.resize(tensor_.dimensions.size());
    std::iota(tensor_.order.begin(), tensor_.order.end(), 0);
    if (has_distribution) raw_ = read_distribution(tokens_, module_);
    clauses();
    check_line_end();
    if (raw_) distribute();
  }

  // Before the distribution is resolved: a stray word here explains what would look like a wrong arity there.
  void check_line_end() const {
    if (tokens_.at_end() || tokens_.peek().starts_line) return;
    if (tokens_.peek().is(",")) tokens_.refuse("one tensor per line", "begin a new line with `tensor`");
    if (tokens_.peek().is_word("cyclic")) {
      throw Error("`cyclic` names no dimension", tokens_.peek().span,
                  "write for instance `cyclic(x)` or `cyclic(x = 64)`");
    }
    if (parse_element_type(std::string(tokens_.peek().text))) {
      throw Error(fmt::format("`{}` is an element type, and a tensor has none of its own", tokens_.peek().text),
                  tokens_.peek().span,
                  fmt::format("write `type {}` on a line of its own: it holds for all tensors", tokens_.peek().text));
    }
    tokens_.refuse(
        "`on`, `order`, `in`, `cyclic` or the end of the line",
        raw_ ? "a side of a distribution is one word, as in `xy`, or names with commas, as in `row, col`" : "");
  }

  void dimensions() {
    tokens_.list("(", "`(`", [&] {
      std::string what = fmt::format("dimension {} of {}", tensor_.dimensions.size(), tensor_.name);
      tensor_.dimensions.push_back(parse_positive_int_expr(tokens_, module_, what));
    });
  }

  // The words of the clauses are not reserved: a statement of a tensor called `order` may come next.
  bool at_clause(std::string_view word, bool takes_parenthesis) const {
    if (!tokens_.peek().is_word(word) || tokens_.at_assignment()) return false;
    return takes_parenthesis ? tokens_.peek(1).is("(") : tokens_.peek(1).is_identifier();
  }

  void clauses() {
    while (true) {
      if (at_clause("on", false)) {
        once("on", tensor_.machine.has_value());
        on_clause();
      } else if (at_clause("order", true)) {
        once("order", ordered_);
        order_clause();
      } else if (at_clause("in", false)) {
        once("in", placed_);
        in_clause();
      } else if (at_cyclic(tokens_)) {
        late_cyclic();
      } else {
        return;
      }
    }
  }

  void once(const char* clause, bool given) const {
    if (given) throw Error(fmt::format("`{}` is given twice for {}", clause, tensor_.name), tokens_.peek().span);
  }

  void on_clause() {
    tokens_.next();
    if (at_grid(tokens_)) {
      tensor_.machine = parse_machine(tokens_, module_);
      return;
    }
    const Token& name = tokens_.next();
    const Machine* machine = module_.find_machine(std::string(name.text));
    if (machine == nullptr) refuse_unknown_machine(name);
    tensor_.machine = *machine;
  }

  [[noreturn]] void refuse_unknown_machine(const Token& name) const {
    std::vector<std::string> known = machine_names();
    std::string help = known.empty() ? "no machine is declared before this; write for instance `machine M = Grid(2, 2)`"
                                     : fmt::format("the machines declared before this are {}", listing(known));
    throw Error(fmt::format("unknown machine `{}`", name.text), name.span,
                help + did_you_mean(std::string(name.text), known));
  }

  std::vector<std::string> machine_names() const {
    std::vector<std::string> names;
    for (const Machine& machine : module_.machines) names.push_back(machine.name);
    return names;
  }

  void order_clause() {
    const Token first = tokens_.next();
    ordered_ = true;
    std::vector<int64_t> order;
    tokens_.list("(", "`(`", [&] {
      if (tokens_.peek().kind != Token::Kind::Number) tokens_.refuse("the number of a dimension");
      order.push_back(integer_value(tokens_.next()));
    });
    std::vector<bool> seen(tensor_.dimensions.size(), false);
    bool permutation = order.size() == seen.size();
    for (int64_t d : order) {
      permutation = permutation && d < static_cast<int64_t>(seen.size()) && !seen[static_cast<size_t>(d)];
      if (permutation) seen[static_cast<size_t>(d)] = true;
    }
    if (!permutation) refuse_order(tokens_.span_from(first));
    tensor_.order.assign(order.begin(), order.end());
  }

  [[noreturn]] void refuse_order(const SourceSpan& span) const {
    size_t n = tensor_.dimensions.size();
    throw Error(
        fmt::format("the order of {} is not a permutation of its {} dimension{}", tensor_.name, n, n == 1 ? "" : "s"),
        span,
        n == 0 ? "a scalar has no storage order"
               : fmt::format("name each of the dimensions 0 to {} once, outermost first", n - 1));
  }

  void in_clause() {
    tokens_.next();
    placed_ = true;
    const Token& kind = tokens_.next();
    if (kind.text != "gpu" && kind.text != "system") {
      throw Error(fmt::format("unknown memory `{}`", kind.text), kind.span, "the memories are `gpu` and `system`");
    }
    tensor_.memory = kind.text == "gpu" ? Memory::GPU_MEM : Memory::CPU_MEM;
  }

  // A cyclic(...) after another clause. It belongs to a level, so there must be no choice of one.
  void late_cyclic() {
    const Token first = tokens_.peek();
    std::vector<CyclicEntry> entries = read_cyclic(tokens_, module_);
    if (!raw_) {
      throw Error(fmt::format("`cyclic` needs a distribution, and {} has none", tensor_.name), tokens_.span_from(first),
                  "write for instance `: x -> x cyclic(x)`");
    }
    if (raw_->arrows.size() > 1 || !raw_->arrows.front().cyclic.empty()) {
      throw Error("it is not clear which level this `cyclic` belongs to", tokens_.span_from(first),
                  "write one `cyclic` for a level, directly after the distribution of that level");
    }
    raw_->arrows.front().cyclic = std::move(entries);
  }

  void distribute() {
    if (!tensor_.machine) {
      if (module_.machines.size() != 1) refuse_no_machine();
      tensor_.machine = module_.machines.front();
    }
    tensor_.distribution = resolve_distribution(*raw_, tensor_, *tensor_.machine, module_);
  }

  [[noreturn]] void refuse_no_machine() const {
    bool none = module_.machines.empty();
    throw Error(fmt::format("{} has a distribution but no machine", tensor_.name), raw_->span,
                none ? "declare one, as in `machine M = Grid(2, 2)`, or write `on Grid(2, 2)`"
                     : fmt::format("say which with `on`: the machines are {}", listing(machine_names())));
  }

  TokenStream& tokens_;
  const Module& module_;
  Tensor tensor_;
  std::optional<RawDistribution> raw_;
  bool ordered_ = false;
  bool placed_ = false;
};

}  // namespace

Tensor parse_tensor(TokenStream& tokens, const Module& module) { return TensorParser(tokens, module).run(); }

Tensor parse_format(TokenStream& tokens, const Module& module, const Tensor& tensor) {
  return TensorParser(tokens, module).run_format(tensor);
}

}  // namespace distal::core
