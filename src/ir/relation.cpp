#include "ir/relation.h"

#include <algorithm>

namespace distal::core {

namespace {

// Calls `f` with a relation that derives loops; returns nothing for one that does not.
template <class F>
auto if_derives(const Relation& relation, F f) {
  using Result = decltype(f(std::declval<const SplitRelation&>()));
  return std::visit(
      [&]<class R>(const R& r) -> Result {
        if constexpr (DerivesLoops<R>) {
          return f(r);
        } else {
          return {};
        }
      },
      relation);
}

}  // namespace

std::string to_string(const Relation& relation) {
  return std::visit([](const auto& r) { return r.text(); }, relation);
}

std::vector<IndexVar> parents(const Relation& relation) {
  return if_derives(relation, [](const auto& r) { return r.parents(); });
}

std::vector<IndexVar> children(const Relation& relation) {
  return if_derives(relation, [](const auto& r) { return r.children(); });
}

std::string replacement(const Relation& relation, const IndexVar& v) {
  return if_derives(relation, [&](const auto& r) {
    std::vector<IndexVar> gone = r.parents();
    return std::find(gone.begin(), gone.end(), v) == gone.end() ? std::string() : r.replaced();
  });
}

std::string obstacle(const Relation& relation, const IndexVar& v) {
  return std::visit(
      [&](const auto& r) -> std::string {
        if constexpr (requires { r.obstacle(v); }) {
          return r.obstacle(v);
        } else {
          return "";
        }
      },
      relation);
}

}  // namespace distal::core
