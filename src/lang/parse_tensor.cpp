#include "lang/parse_tensor.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "lang/parse_int.h"
#include "lang/parse_machine.h"
#include "lang/read_distribution.h"
#include "lang/resolve_distribution.h"

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
    if (has_distribution) {
      refuse_element_type();
      raw_ = read_distribution(tokens_);
    }
    clauses();
    check_line_end();
    if (raw_) distribute();
  }

  // Called before the distribution is resolved, where a stray word would look like a wrong number of dimensions.
  void check_line_end() const {
    if (tokens_.at_end() || tokens_.peek().starts_line) return;
    if (tokens_.peek().is(",")) tokens_.refuse("one tensor per line", "begin a new line with `tensor`");
    if (tokens_.peek().is_word("cyclic")) {
      throw Error("`cyclic` names no dimension", tokens_.peek().span,
                  "write for instance `cyclic(x)` or `cyclic(x = 64)`");
    }
    refuse_element_type();
    if (tokens_.peek().is("=")) {
      throw Error("a declaration gives no values", tokens_.peek().span,
                  fmt::format("set them by a statement, `{}(...) = 0`, or load a file with --load", tensor_.name));
    }
    if (tokens_.peek().is_word("block_cyclic") || tokens_.peek().is_word("block")) {
      throw Error(fmt::format("there is no `{}`", tokens_.peek().text), tokens_.peek().span,
                  "blocks are the default; `cyclic(x = 64)` deals out blocks of 64 in turn");
    }
    tokens_.refuse("`on`, `order`, `in`, `cyclic` or the end of the line",
                   raw_ ? "a side of a distribution is one word, as in `xy`, or names with commas, as in `row, col`"
                        : "tensors are dense; a declaration is for instance `tensor A(4, 4) : xy -> xy on M`");
  }

  // `tensor A(n) float`, and `tensor A(n) : float`, where no arrow follows.
  void refuse_element_type() const {
    const Token& word = tokens_.peek();
    if (!parse_element_type(std::string(word.text)) || tokens_.peek(1).is("->") || tokens_.peek(1).is(",")) return;
    throw Error(fmt::format("`{}` is an element type, and a tensor has none of its own", word.text), word.span,
                fmt::format("write `type {}` on a line of its own: it holds for all tensors", word.text));
  }

  void dimensions() {
    tokens_.list("(", "`(`", [&] { tensor_.dimensions.push_back(parse_placed_int_expr(tokens_)); });
  }

  // The words of the clauses are not reserved: a statement of a tensor called `order` may come next.
  bool at_clause(std::string_view word, bool takes_parenthesis) const {
    if (!tokens_.peek().is_word(word) || tokens_.at_assignment()) return false;
    return takes_parenthesis ? tokens_.peek(1).is("(") : tokens_.peek(1).is_identifier();
  }

  bool at_on() const {
    const Token& next = tokens_.peek(1);
    bool counts = next.kind == Token::Kind::Number || next.is("(");  // as in `on 64 processors`
    return at_clause("on", false) || (tokens_.peek().is_word("on") && !tokens_.at_assignment() && counts);
  }

  void clauses() {
    while (true) {
      if (at_on()) {
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
    if (at_machine(tokens_)) {
      tensor_.machine = parse_machine(tokens_);
      return;
    }
    const Token& name = tokens_.next();
    std::string text(name.text);
    const Machine* machine = module_.find_machine(text);
    tensor_.machine = machine ? *machine : Machine{text, {}, name.span};
  }

  void order_clause() {
    const Token first = tokens_.next();
    ordered_ = true;
    tensor_.order.clear();
    tokens_.list("(", "`(`", [&] {
      if (tokens_.peek().kind != Token::Kind::Number) tokens_.refuse("the number of a dimension");
      int64_t most = std::numeric_limits<int>::max();  // of any tensor
      tensor_.order.push_back(static_cast<int>(std::min(integer_value(tokens_.next()), most)));
    });
    tensor_.order_span = tokens_.span_from(first);
  }

  void in_clause() {
    tokens_.next();
    placed_ = true;
    const Token& kind = tokens_.next();
    if (kind.text != "gpu" && kind.text != "cpu" && kind.text != "system") {
      throw Error(fmt::format("unknown memory `{}`", kind.text), kind.span, "the memories are `cpu` and `gpu`");
    }
    tensor_.memory = kind.text == "gpu" ? Memory::GPU_MEM : Memory::CPU_MEM;
  }

  // A cyclic(...) after another clause. Which level it belongs to is clear only if there is one, without a cyclic(...).
  void late_cyclic() {
    const Token first = tokens_.peek();
    std::vector<CyclicEntry> entries = read_cyclic(tokens_);
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
    if (!tensor_.machine && module_.machines.size() == 1) tensor_.machine = module_.machines.front();
    const Machine* machine = tensor_.machine ? &*tensor_.machine : nullptr;
    tensor_.distribution = resolve_distribution(*raw_, {tensor_.name, tensor_.dimensions.size()}, machine, module_);
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
