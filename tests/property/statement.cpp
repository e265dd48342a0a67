// Operations on the generator's model of a statement.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "model.h"

namespace distal::core::property {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void add_once(std::vector<std::string>& names, const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    if (!contains(names, name)) names.push_back(name);
  }
}

std::string text_of_product(const Term& term) {
  std::vector<std::string> factors;
  for (const Factor& f : term.factors) factors.push_back(f.text);
  return fmt::format("{}", fmt::join(factors, " * "));
}

// Replaces every word that is a key of `names` by its value.
std::string renamed(const std::string& text, const std::map<std::string, std::string>& names) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    auto found = names.find(text.substr(at, end - at));
    out += found == names.end() ? text.substr(at, end - at) : found->second;
    if (end < text.size()) out += text[end++];
    at = end;
  }
  return out;
}

void rename(std::vector<std::string>& list, const std::map<std::string, std::string>& names) {
  for (std::string& v : list) {
    if (auto found = names.find(v); found != names.end()) v = found->second;
  }
}

// The factors of `term` without those of `chosen`, each removed once. Nothing if one is missing.
std::optional<std::vector<Factor>> without(const Term& term, const std::vector<Factor>& chosen) {
  std::vector<Factor> left = term.factors;
  for (const Factor& f : chosen) {
    auto found = std::find_if(left.begin(), left.end(), [&](const Factor& x) { return x.text == f.text; });
    if (found == left.end()) return std::nullopt;
    left.erase(found);
  }
  return left;
}

// Chooses some factors of a term. Like the compiler, takes them from the first term that has them all.
Subexpression some_factors(Choice& choice, const std::vector<Term>& terms) {
  const Term& term = choice.of(terms);
  std::vector<Factor> chosen;
  for (const Factor& f : term.factors) {
    if (choice.chance(60)) chosen.push_back(f);
  }
  if (chosen.empty()) chosen = term.factors;
  Subexpression out{{{"", chosen}}, terms, {}, {}, {}};
  for (Term& t : out.rest) {
    auto left = without(t, chosen);
    if (!left) continue;
    t.factors = *left;
    t.factors.insert(t.factors.begin(), Factor{});
    break;
  }
  return out;
}

Subexpression first_terms(const std::vector<Term>& terms, size_t count) {
  auto end = terms.begin() + static_cast<std::ptrdiff_t>(count);
  Subexpression out{{terms.begin(), end}, {{"", {Factor{}}}}, {}, {}, {}};
  out.rest.insert(out.rest.end(), end, terms.end());
  return out;
}

// The variables that every addend uses.
std::vector<std::string> common_of(const std::vector<Term>& terms) {
  std::vector<std::string> out = variables_of(terms);
  for (const Term& t : terms) {
    std::vector<std::string> used = t.factors.size() == 1 ? t.factors[0].common : variables_of({t});
    std::erase_if(out, [&](const std::string& v) { return !contains(used, v); });
  }
  return out;
}

// Whether every addend of the subexpression uses each variable over which it, or its product with other factors, is
// summed. precompute requires that.
bool sums_all(const Subexpression& part, const TensorAccess& lhs) {
  bool in_product = std::any_of(part.rest.begin(), part.rest.end(),
                                [](const Term& t) { return t.factors.size() > 1 && t.factors[0].text.empty(); });
  std::vector<std::string> common = common_of(part.terms);
  const std::vector<std::string>& over = in_product ? part.sums : part.free;
  return std::all_of(over.begin(), over.end(),
                     [&](const std::string& v) { return contains(common, v) || contains(lhs.indices, v); });
}

}  // namespace

std::string text_of(const TensorAccess& access) {
  if (access.indices.empty()) return access.tensor;
  std::vector<std::string> indices = access.indices;
  for (size_t d = 0; d < access.shifts.size(); ++d) indices[d] += access.shifts[d];
  return fmt::format("{}({})", access.tensor, fmt::join(indices, ", "));
}

std::string text_of(const std::vector<Term>& terms) {
  std::string out;
  for (const Term& t : terms) out += t.sign + text_of_product(t);
  return out;
}

std::vector<TensorAccess> accesses_of(const std::vector<Term>& terms) {
  std::vector<TensorAccess> out;
  for (const Term& t : terms) {
    for (const Factor& f : t.factors) out.insert(out.end(), f.accesses.begin(), f.accesses.end());
  }
  return out;
}

std::vector<std::string> variables_of(const std::vector<Term>& terms) {
  std::vector<std::string> out;
  for (const Term& t : terms) {
    for (const Factor& f : t.factors) add_once(out, f.variables);
  }
  return out;
}

Statement make_statement(const TensorAccess& lhs, const std::vector<Term>& terms) {
  Statement out{lhs, terms, accesses_of(terms), {}};
  add_once(out.variables, lhs.indices);
  add_once(out.variables, variables_of(terms));
  return out;
}

std::optional<Subexpression> random_subexpression(Choice& choice, const std::vector<Term>& terms,
                                                  const TensorAccess& lhs) {
  bool factors = choice.chance(70);
  size_t count = static_cast<size_t>(choice.between(1, int64_t(terms.size())));
  Subexpression out = factors ? some_factors(choice, terms) : first_terms(terms, count);
  std::vector<std::string> used = variables_of(out.terms), rest = variables_of(out.rest);
  out.other = rest;
  add_once(out.other, lhs.indices);
  for (const std::string& v : used) (contains(out.other, v) ? out.free : out.sums).push_back(v);
  if (used.empty() || !sums_all(out, lhs)) return std::nullopt;
  return out;
}

std::vector<Term> filled(const Subexpression& part, const TensorAccess& workspace) {
  std::vector<Term> out = part.rest;
  for (Term& t : out) {
    for (Factor& f : t.factors) {
      if (!f.text.empty()) continue;
      f.text = text_of(workspace);
      f.accesses = {workspace};
      add_once(f.variables, workspace.indices);
      f.common = f.variables;
    }
  }
  return out;
}

std::vector<Term> renamed(std::vector<Term> terms, const std::map<std::string, std::string>& names) {
  for (Term& t : terms) {
    for (Factor& f : t.factors) {
      f.text = renamed(f.text, names);
      rename(f.variables, names);
      rename(f.common, names);
      for (TensorAccess& a : f.accesses) rename(a.indices, names);
    }
  }
  return terms;
}

}  // namespace distal::core::property
