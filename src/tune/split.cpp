#include "tune/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lang/ranges.h"
#include "schedule/expand_precomputes.h"
#include "tune/term_products.h"

namespace distal::core {

namespace {

using Factors = std::vector<Expr>;

// Whether a part of a product may have this factor: each addend of a sum must use all of its indices, because sums
// cover only the addends that use their index.
bool can_be_part(const Expr& factor) {
  size_t all = variables(factor).size();
  std::vector<Term> terms = additive_terms(factor);
  return std::all_of(terms.begin(), terms.end(), [&](const Term& t) { return variables(t.expr).size() == all; });
}

Expr product_of(const Factors& factors) {
  Expr out = factors[0];
  for (size_t f = 1; f < factors.size(); ++f) out = Expr::binary(BinaryOp::Multiply, out, factors[f]);
  return out;
}

class Splitter {
 public:
  Splitter(const Module& module, const Statement& statement, const Bindings& params,
           const std::optional<Machine>& machine)
      : module_(module), statement_(statement), machine_(machine), extents_(variable_extents(module, statement)) {
    for (const IndexVar& v : variables(statement)) {
      indices_.push_back(v);
      values_.push_back(extents_.at(v.name).evaluate(params));
    }
    terms_ = term_products(statement, values_);
    keep_shared_indices();
  }

  std::vector<Split> find() {
    std::vector<std::vector<ContractionOrder>> orders;
    std::vector<ContractionOrder> whole;
    size_t most = 0;
    for (const TermProduct& term : terms_) {
      whole.push_back(fused_order(term.product));
      orders.push_back(may_split(term) ? contraction_orders(term.product) : std::vector{whole.back()});
      most = std::max(most, orders.back().size());
    }
    std::vector<Split> out{split_by(whole)};
    for (size_t n = 0; n < most; ++n) {
      std::vector<ContractionOrder> chosen;
      for (const std::vector<ContractionOrder>& of_term : orders)
        chosen.push_back(of_term[std::min(n, of_term.size() - 1)]);
      Split split = split_by(chosen);
      if (!split.workspaces.empty()) out.push_back(std::move(split));
    }
    return out;
  }

 private:
  int number_of(const IndexVar& v) const {
    return static_cast<int>(std::find(indices_.begin(), indices_.end(), v) - indices_.begin());
  }

  // What several terms sum over, no part of one of them may sum over.
  void keep_shared_indices() {
    for (int index = 0; index < static_cast<int>(indices_.size()); ++index) {
      auto uses = [&](const TermProduct& term) {
        return std::any_of(term.product.factors.begin(), term.product.factors.end(),
                           [&](const std::vector<int>& factor) { return has(factor, index); });
      };
      if (std::count_if(terms_.begin(), terms_.end(), uses) < 2) continue;
      for (TermProduct& term : terms_) term.product.summed_last.push_back(index);
    }
  }

  static bool has(const std::vector<int>& indices, int index) {
    return std::find(indices.begin(), indices.end(), index) != indices.end();
  }

  // A part must not read the output, which this statement writes.
  bool may_split(const TermProduct& term) const {
    return term.factors.size() > 1 && std::all_of(term.factors.begin(), term.factors.end(), [&](const Expr& factor) {
             return can_be_part(factor) && !reads_output({statement_.lhs, statement_.op, factor, {}});
           });
  }

  Split split_by(const std::vector<ContractionOrder>& orders) {
    Split out;
    names_ = {};
    for (const IndexVar& v : indices_) names_.insert(v.name);
    for (size_t t = 0; t < orders.size(); ++t) {
      out.flops += orders[t].flops;
      out.elements += orders[t].elements;
      add_precomputes(terms_[t], orders[t], out);
    }
    return out;
  }

  // The last part of a term stays in the statement.
  void add_precomputes(const TermProduct& term, const ContractionOrder& order, Split& split) {
    Factors inputs = term.factors;
    for (size_t p = 0; p + 1 < order.parts.size(); ++p) {
      const ContractionPart& part = order.parts[p];
      Factors multiplied;
      for (int input : part.inputs) multiplied.push_back(inputs[static_cast<size_t>(input)]);
      std::vector<IndexVar> kept = storage_order(multiplied, part.result), copies;
      for (const IndexVar& v : kept) copies.push_back({fresh_index(v.name + "w"), {}});
      Tensor workspace = workspace_over(kept, split);
      split.precomputes.push_back({"precompute", {product_of(multiplied), kept, copies, Name{workspace.name, {}}}, {}});
      inputs.emplace_back(Access{workspace.name, kept, {}});
      split.workspaces.push_back(std::move(workspace));
    }
  }

  double elements_of(const Expr& factor) const {
    double elements = 1;
    for (const IndexVar& v : variables(factor)) elements *= static_cast<double>(values_[number_of(v)]);
    return elements;
  }

  // The indices of a result as they stand in the largest factor that has them, so that those that stand together stay
  // together.
  std::vector<IndexVar> storage_order(Factors factors, const std::vector<int>& result) const {
    std::stable_sort(factors.begin(), factors.end(),
                     [&](const Expr& a, const Expr& b) { return elements_of(a) > elements_of(b); });
    std::vector<IndexVar> out;
    for (const Expr& factor : factors) {
      for (const IndexVar& v : variables(factor)) {
        if (has(result, number_of(v)) && std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
      }
    }
    return out;
  }

  std::string fresh_index(const std::string& wanted) {
    std::string name = wanted;
    for (int n = 1; !names_.insert(name).second; ++n) name = fmt::format("{}{}", wanted, n);
    return name;
  }

  Tensor workspace_over(const std::vector<IndexVar>& indices, const Split& split) const {
    Tensor out;
    out.machine = machine_;
    out.memory = module_.find_tensor(statement_.lhs.tensor)->memory;
    for (const IndexVar& v : indices) {
      out.order.push_back(static_cast<int>(out.dimensions.size()));
      out.dimensions.push_back(extents_.at(v.name));
    }
    for (int n = 1; out.name.empty() || is_taken(out.name, split); ++n)
      out.name = fmt::format("{}{}", statement_.lhs.tensor, n);
    return out;
  }

  bool is_taken(const std::string& name, const Split& split) const {
    auto has_name = [&](const auto& item) { return item.name == name; };
    return module_.find_tensor(name) != nullptr || module_.find_machine(name) != nullptr || names_.count(name) > 0 ||
           std::any_of(module_.params.begin(), module_.params.end(), has_name) ||
           std::any_of(split.workspaces.begin(), split.workspaces.end(), has_name);
  }

  const Module& module_;
  const Statement& statement_;
  std::optional<Machine> machine_;
  std::map<std::string, IntExpr> extents_;
  std::vector<IndexVar> indices_;
  std::vector<int64_t> values_;  // the extents of the indices
  std::vector<TermProduct> terms_;
  std::set<std::string> names_;  // of indices
};

}  // namespace

std::vector<Split> splits_of(const Module& module, const Statement& statement, const Bindings& params,
                             const std::optional<Machine>& machine) {
  return Splitter(module, statement, params, machine).find();
}

std::vector<Statement> parts_of(const Module& module, const Statement& statement, const Split& split) {
  Module one = module;
  one.statements = {{statement, split.precomputes, std::nullopt, true}};
  std::vector<Statement> out;
  for (const ScheduledStatement& part : expand_precomputes(one).statements) out.push_back(part.statement);
  return out;
}

}  // namespace distal::core
