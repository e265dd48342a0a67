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
    for (const IndexVar& v : source_.lhs.indices) add_index(v);
    outputs_ = indices_.size();
    for (const IndexVar& v : variables(source_)) add_index(v);
    add_access(source_.lhs, statement_.tensors.at(source_.lhs.tensor));
    if (adds()) add_access(source_.lhs, "before");
    for (const Access& a : accesses(source_.rhs)) {
      if (!is_known(a)) add_access(a, statement_.tensors.at(a.tensor));
    }
  }

  void run() {
    write_space();
    writer_.line(
        "// Adds up what a box of iterations adds to its elements, and hands the sums over with the elements.");
    writer_.open(
        fmt::format("static void check_{}(CheckBox<T>& box, const std::vector<Operand>& operands)", statement_.number));
    for (size_t n = 0; n < accesses_.size(); ++n) {
      writer_.line(fmt::format("const Elements<T> {}(operands[{}]);", accesses_[n].name, n));
    }
    for (size_t v = 0; v < outputs_; ++v) open_loop(v);
    writer_.line("Expected<T> expected;");
    if (adds()) write_addend(std::vector<bool>(indices_.size(), false), "before(" + indices(source_.lhs) + ")");
    for (const Term& term : additive_terms(source_)) write_term(term);
    writer_.line(fmt::format("box.found({}, expected);", access(source_.lhs)));
    for (size_t v = 0; v < outputs_; ++v) writer_.close();
    writer_.close();
    writer_.line("");
  }

 private:
  // A read of the check: an access, and the name of its elements. Accesses of one tensor at different indices are
  // different reads, because a box uses different elements for each.
  struct Read {
    Access access;
    std::string name;
  };

  bool adds() const { return accumulates(source_.op); }

  size_t number(const IndexVar& v) const {
    return static_cast<size_t>(std::find(indices_.begin(), indices_.end(), v) - indices_.begin());
  }

  void add_index(const IndexVar& v) {
    if (number(v) == indices_.size()) indices_.push_back(v);
  }

  bool is_known(const Access& a) const {
    return std::any_of(accesses_.begin() + (adds() ? 2 : 1), accesses_.end(),
                       [&](const Read& r) { return to_string(r.access) == to_string(a); });
  }

  void add_access(const Access& a, const std::string& name) {
    bool taken = std::any_of(accesses_.begin(), accesses_.end(), [&](const Read& r) { return r.name == name; });
    accesses_.push_back({a, taken ? names_.fresh(fmt::format("{}_{}", name, accesses_.size())) : name});
  }

  // Writes the function that returns the extents that the check runs over, and its reads.
  void write_space() {
    std::vector<std::string> extents, reads;
    for (const IndexVar& v : indices_) extents.push_back(names_.text(extents_.at(v.name)));
    for (const Read& r : accesses_) {
      std::vector<std::string> at;
      for (size_t d = 0; d < r.access.indices.size(); ++d) {
        std::string shift = r.access.is_shifted(d) ? ", " + names_.text(r.access.offset(d)) : "";
        at.push_back(fmt::format("{{{}{}}}", number(r.access.indices[d]), shift));
      }
      reads.push_back(fmt::format("{{&{}, {{{}}}}}", statement_.tensors.at(r.access.tensor), fmt::join(at, ", ")));
    }
    std::vector<std::string> names;
    for (const IndexVar& v : indices_) names.push_back(v.name);
    writer_.line(
        fmt::format("// The definition of {}: the extents of its indices, the output's first, and what it reads.",
                    to_string(source_)));
    writer_.open(fmt::format("static CheckSpace check_space_{}()", statement_.number));
    writer_.line(fmt::format("return {{{{{}}}, {}, {{{}}}}};{}", fmt::join(extents, ", "), outputs_,
                             fmt::join(reads, ", "),
                             names.empty() ? "" : fmt::format("  // {}", fmt::join(names, ", "))));
    writer_.close();
    writer_.line("");
  }

  void open_loop(size_t v) {
    writer_.open(fmt::format("for (Int {0} = box.lo[{1}]; {0} < box.hi[{1}]; ++{0})", names_[indices_[v].name], v));
  }

  // Writes a term under the loops of its own sum variables: a sum covers only the terms that use its variable.
  void write_term(const Term& term) {
    std::vector<bool> used(indices_.size(), false);
    for (const IndexVar& v : variables(term.expr)) used[number(v)] = true;
    write_addend(used, fmt::format("T({}{})", term.negated ? "-" : "", expression(term.expr)));
  }

  // An addend that a sum does not cover belongs to the box where the sum begins.
  void write_addend(const std::vector<bool>& used, const std::string& addend) {
    std::vector<std::string> begins;
    size_t loops = 0;
    for (size_t v = outputs_; v < indices_.size(); ++v) {
      if (!used[v]) begins.push_back(fmt::format("box.lo[{}] == 0", v));
    }
    if (!begins.empty()) writer_.open(fmt::format("if ({})", fmt::join(begins, " && ")));
    for (size_t v = outputs_; v < indices_.size(); ++v) {
      if (!used[v]) continue;
      open_loop(v);
      ++loops;
    }
    writer_.line(fmt::format("expected.add({});", addend));
    for (size_t n = 0; n < loops + (begins.empty() ? 0 : 1); ++n) writer_.close();
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
    auto read = std::find_if(accesses_.begin() + (&a == &source_.lhs || !adds() ? 0 : 2), accesses_.end(),
                             [&](const Read& r) { return to_string(r.access) == to_string(a); });
    return fmt::format("{}({})", read->name, indices(a));
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
  std::vector<IndexVar> indices_;  // the output's first
  size_t outputs_ = 0;
  std::vector<Read> accesses_;  // the output first
  const StatementNames& statement_;
  CppNames names_;
  TextWriter& writer_;
};

}  // namespace

void write_check(const Module& module, const Stage& stage, const StatementNames& statement, const CppNames& names,
                 TextWriter& writer) {
  CheckWriter(module, stage, statement, names, writer).run();
}

}  // namespace distal::core
