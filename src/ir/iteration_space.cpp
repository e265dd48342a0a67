#include "ir/iteration_space.h"

#include <fmt/format.h>

#include <algorithm>

namespace distal::core {

namespace {

template <class Variables>
bool any_in(const Variables& variables, const std::vector<bool>& set) {
  return std::any_of(variables.begin(), variables.end(), [&](int v) -> bool { return set[v]; });
}

template <class Variables>
bool all_in(const Variables& variables, const std::vector<bool>& set) {
  return std::all_of(variables.begin(), variables.end(), [&](int v) -> bool { return set[v]; });
}

template <class Variables>
void insert(const Variables& variables, std::vector<bool>& set) {
  for (int v : variables) set[v] = true;
}

// The variables that recovery needs besides the children.
template <class D>
std::vector<int> shifts_of(const D& derivation) {
  if constexpr (requires { derivation.shifts(); }) {
    return derivation.shifts();
  } else {
    return {};
  }
}

std::vector<bool> only(int variables, int variable) {
  std::vector<bool> out(static_cast<size_t>(variables), false);
  out[variable] = true;
  return out;
}

// Copies derive from one another like their originals, and from the loops around producer and consumer.
void add_copies(IterationSpace<IntExpr>& space, const PrecomputeRelation& r) {
  std::map<int, int> copies;
  for (size_t i = 0; i < r.originals.size(); ++i) {
    int original = number(space, r.originals[i]);
    copies[original] = add_variable(space, r.copies[i], space.extents[original]);
  }
  auto copy_of = [&](int v) { return copies.count(v) > 0 ? copies.at(v) : v; };
  // Each copied derivation goes next to its original: both must precede the derivations of their common children.
  std::vector<Derivation> all;
  for (const Derivation& d : space.derivations) {
    all.push_back(d);
    std::vector<int> made = recovered_by(d);
    bool copied = std::any_of(made.begin(), made.end(), [&](int v) { return copies.count(v) > 0; });
    if (copied) all.push_back(std::visit([&](const auto& x) { return Derivation(x.renumbered(copy_of)); }, d));
  }
  space.derivations = std::move(all);
}

}  // namespace

int find_variable(const IterationSpace<IntExpr>& space, const std::string& name) {
  for (int v = 0; v < space.size(); ++v) {
    if (space.names[v] == name) return v;
  }
  throw InternalError(fmt::format("no variable {} in the iteration space", name));
}

int add_variable(IterationSpace<IntExpr>& space, const IndexVar& v, const IntExpr& extent) {
  space.names.push_back(v.name);
  space.extents.push_back(extent);
  return space.size() - 1;
}

IterationSpace<IntExpr> make_space(const std::vector<IndexVar>& variables,
                                   const std::map<std::string, IntExpr>& extents,
                                   const std::vector<Relation>& relations) {
  IterationSpace<IntExpr> space;
  for (const IndexVar& v : variables) add_variable(space, v, extents.at(v.name));
  for (const Relation& relation : relations) {
    std::visit(
        [&]<class R>(const R& r) {
          if constexpr (DerivesLoops<R>) {
            space.derivations.emplace_back(r.add_to(space));
          } else if constexpr (std::is_same_v<R, PrecomputeRelation>) {
            add_copies(space, r);
          }
        },
        relation);
  }
  return space;
}

std::vector<int> recovered_by(const Derivation& derivation) {
  return std::visit(
      [](const auto& d) {
        auto parents = d.parents();
        return std::vector<int>(parents.begin(), parents.end());
      },
      derivation);
}

std::vector<bool> recovered_variables(const std::vector<Derivation>& derivations, int variables) {
  std::vector<bool> out(static_cast<size_t>(variables), false);
  for (const Derivation& derivation : derivations) {
    std::visit([&](const auto& d) { insert(d.parents(), out); }, derivation);
  }
  return out;
}

std::vector<bool> recovered_from(const std::vector<Derivation>& derivations, int variables, int variable) {
  std::vector<bool> in = only(variables, variable);
  // Children come after their parents, so one pass in order reaches everything.
  auto visit = [&](const auto& d) {
    if (!any_in(d.parents(), in)) return;
    insert(d.children(), in);
    insert(shifts_of(d), in);
  };
  for (const Derivation& derivation : derivations) std::visit(visit, derivation);
  return in;
}

bool is_ready(const Derivation& derivation, const std::vector<bool>& known) {
  return std::visit([&](const auto& d) { return all_in(d.children(), known) && all_in(shifts_of(d), known); },
                    derivation);
}

std::vector<bool> with_recovered(const std::vector<Derivation>& derivations, std::vector<bool> known) {
  for (auto d = derivations.rbegin(); d != derivations.rend(); ++d) {
    if (!is_ready(*d, known)) continue;
    std::visit([&](const auto& ready) { insert(ready.parents(), known); }, *d);
  }
  return known;
}

std::vector<bool> determined_by(const std::vector<Derivation>& derivations, std::vector<bool> known) {
  auto visit = [&](const auto& d) {
    if (all_in(d.parents(), known) && all_in(shifts_of(d), known)) insert(d.children(), known);
  };
  for (const Derivation& derivation : derivations) std::visit(visit, derivation);
  return known;
}

std::vector<bool> made_from(const std::vector<Derivation>& derivations, int variables, int variable) {
  std::vector<bool> in = only(variables, variable);
  auto visit = [&](const auto& d) {
    if (any_in(d.children(), in)) insert(d.parents(), in);
  };
  for (auto d = derivations.rbegin(); d != derivations.rend(); ++d) std::visit(visit, *d);
  return in;
}

std::vector<std::string> recovery_text(const Derivation& derivation, const VariableText& name,
                                       const VariableText& extent) {
  return std::visit([&](const auto& d) { return d.recovery(name, extent); }, derivation);
}

std::optional<Clip> clip_of(const Derivation& derivation) {
  return std::visit(
      [](const auto& d) -> std::optional<Clip> {
        if constexpr (requires { d.clip(); }) {
          return d.clip();
        } else {
          return std::nullopt;
        }
      },
      derivation);
}

IterationSpace<int64_t> evaluate(const IterationSpace<IntExpr>& space, const Bindings& params) {
  IterationSpace<int64_t> out;
  out.names = space.names;
  out.derivations = space.derivations;
  for (const IntExpr& e : space.extents) out.extents.push_back(e.evaluate(params));
  return out;
}

}  // namespace distal::core
