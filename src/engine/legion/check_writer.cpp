#include "engine/legion/check_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lang/ranges.h"

namespace distal::core {

namespace {

class CheckWriter {
 public:
  CheckWriter(const Module& module, const Stage& stage, const StatementNames& statement, const CppNames& names,
              TextWriter& writer)
      : source_(stage.source.statement),
        extents_(variable_extents(module, source_)),
        statement_(statement),
        names_(names),
        writer_(writer) {
    for (const IndexVar& v : variables(source_)) names_.add(v.name);
  }

  void run() {
    writer_.line("// Compares the output of " + to_string(source_) + " with its definition.");
    writer_.open(fmt::format("static Difference check_{}(const std::vector<Operand>& operands)", statement_.number));
    writer_.line("Difference found;");
    declare_operands();
    open_loops(output_indices());
    writer_.line("Expected<T> expected;");
    if (adds()) writer_.line(fmt::format("expected.add(before({}));", indices(source_.lhs)));
    for (const Term& term : additive_terms(source_)) write_term(term);
    writer_.line(fmt::format("compare({}, expected, found);", access(source_.lhs)));
    close_loops(output_indices().size());
    writer_.line("return found;");
    writer_.close();
    writer_.line("");
  }

 private:
  bool adds() const { return accumulates(source_.op); }

  void declare_operands() {
    int next = 0;
    auto declare = [&](const std::string& name) {
      writer_.line(fmt::format("const Elements<T> {}(operands[{}]);", name, next++));
    };
    declare(statement_.tensors.at(source_.lhs.tensor));
    if (adds()) declare("before");
    for (const std::string& t : tensors_read(source_)) declare(statement_.tensors.at(t));
  }

  std::vector<IndexVar> output_indices() const {
    std::vector<IndexVar> out;
    for (const IndexVar& v : source_.lhs.indices) {
      if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
    }
    return out;
  }

  void open_loops(const std::vector<IndexVar>& loops) {
    for (const IndexVar& v : loops) {
      writer_.open(
          fmt::format("for (Int {0} = 0; {0} < {1}; ++{0})", names_[v.name], names_.text(extents_.at(v.name))));
    }
  }

  void close_loops(size_t count) {
    for (size_t i = 0; i < count; ++i) writer_.close();
  }

  // Writes a term under the loops of its own sum variables: a sum covers only the terms that use its variable.
  void write_term(const Term& term) {
    std::vector<IndexVar> sums;
    for (const IndexVar& v : variables(term.expr)) {
      if (std::find(source_.lhs.indices.begin(), source_.lhs.indices.end(), v) == source_.lhs.indices.end()) {
        sums.push_back(v);
      }
    }
    open_loops(sums);
    writer_.line(fmt::format("expected.add(T({}{}));", term.negated ? "-" : "", expression(term.expr)));
    close_loops(sums.size());
  }

  std::string indices(const Access& a) const {
    std::vector<std::string> out;
    for (size_t d = 0; d < a.indices.size(); ++d) {
      std::string shift = a.is_shifted(d) ? fmt::format(" + {}", names_.text(a.offset(d))) : "";
      out.push_back(names_[a.indices[d].name] + shift);
    }
    return fmt::format("{}", fmt::join(out, ", "));
  }

  std::string access(const Access& a) const {
    return fmt::format("{}({})", statement_.tensors.at(a.tensor), indices(a));
  }

  std::string expression(const Expr& e) const {
    struct Printed {
      std::string text;
      int strength;  // of the operator: sums 1, products 2, everything else 3
    };
    auto operand = [](const Printed& x, int strength) { return x.strength < strength ? "(" + x.text + ")" : x.text; };
    auto literal = [](const Literal& l) {
      return l.integral ? fmt::format("T({})", static_cast<int64_t>(l.value)) : fmt::format("T({:a})", l.value);
    };
    Printed whole = fold(
        e, Overloaded{[&](const Access& a) {
                        return Printed{access(a), 3};
                      },
                      [&](const Literal& l) {
                        return Printed{literal(l), 3};
                      },
                      [&](const ParamUse& p) {
                        return Printed{"T(" + names_.text(IntExpr::name(p.name)) + ")", 3};
                      },
                      [&](const Negate&, const Printed& x) {
                        return Printed{"(-" + operand(x, 2) + ")", 3};
                      },
                      [&](const Binary& b, const Printed& left, const Printed& right) {
                        int own = b.op == BinaryOp::Multiply ? 2 : 1;
                        const char* op = b.op == BinaryOp::Add ? " + " : b.op == BinaryOp::Subtract ? " - " : " * ";
                        return Printed{operand(left, own) + op + operand(right, own + 1), own};
                      }});
    return operand(whole, 2);
  }

  const Statement& source_;
  std::map<std::string, IntExpr> extents_;
  const StatementNames& statement_;
  CppNames names_;
  TextWriter& writer_;
};

}  // namespace

std::vector<std::string> tensors_read(const Statement& statement) {
  std::vector<std::string> out;
  for (const Access& a : accesses(statement.rhs)) {
    if (std::find(out.begin(), out.end(), a.tensor) == out.end()) out.push_back(a.tensor);
  }
  return out;
}

void write_check(const Module& module, const Stage& stage, const StatementNames& statement, const CppNames& names,
                 TextWriter& writer) {
  CheckWriter(module, stage, statement, names, writer).run();
}

}  // namespace distal::core
