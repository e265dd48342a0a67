#include "leaf/gpu/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "leaf/nest.h"
#include "support/overloaded.h"

namespace distal::core {

namespace {

const std::string kZero = "0", kOne = "1";

std::string plus(const std::string& a, const std::string& b) {
  return a == kZero ? b : b == kZero ? a : fmt::format("{} + {}", a, b);
}
std::string grouped(const std::string& sum) {
  return sum.find(" + ") == std::string::npos ? sum : fmt::format("({})", sum);
}

// Finds the windows of variables from those of the loops, as bounds analysis finds intervals, where sizes are not
// known.
class WindowFinder {
 public:
  WindowFinder(const IterationSpace<int64_t>& space, const std::vector<int>& loops, const VariableText& extent,
               const VariableText& name)
      : extent_(extent) {
    for (int v = 0; v < space.size(); ++v) all_.push_back({name(v), kOne});
    for (int v : loops) of(v) = whole(v);
    for (auto d = space.derivations.rbegin(); d != space.derivations.rend(); ++d) {
      std::visit([&](const auto& derivation) { derive(derivation); }, *d);
    }
  }

  Window& of(int v) { return all_[static_cast<size_t>(v)]; }

 private:
  static bool is_point(const Window& w) { return w.extent == kOne; }
  Window whole(int v) const { return {kZero, extent_(v)}; }

  // Any other relation: parents may take all their values.
  template <class Relation>
  void derive(const Relation& relation) {
    for (int v : relation.parents()) of(v) = whole(v);
  }

  void derive(const Tile& t) {
    const Window &outer = of(t.outer), &inner = of(t.inner);
    Window& parent = of(t.parent);
    const std::string tile =
        outer.lowest == kZero ? kZero : fmt::format("{} * {}", grouped(outer.lowest), extent_(t.inner));
    parent.lowest = plus(tile, inner.lowest);
    if (is_point(outer) && is_point(inner)) {
      parent.extent = kOne;
      return;
    }
    const std::string whole_tiles =
        is_point(outer) ? kZero : fmt::format("({} - 1) * {}", outer.extent, extent_(t.inner));
    parent.extent = fmt::format("std::min({}, {})", extent_(t.parent), plus(whole_tiles, inner.extent));
  }

  void derive(const Fuse& f) {
    const Window fused = of(f.fused);
    const std::string columns = extent_(f.inner);
    const bool begins = fused.lowest == kZero;
    of(f.outer) = {begins ? kZero : fmt::format("{} / {}", grouped(fused.lowest), columns), kOne};
    of(f.inner) = {begins ? kZero : fmt::format("{} % {}", grouped(fused.lowest), columns), kOne};
    if (is_point(fused)) return;
    of(f.outer).extent = fmt::format("std::min({}, rows_of({}, {}))", extent_(f.outer), fused.extent, columns);
    of(f.inner) = whole(f.inner);
  }

  void derive(const Rotation& r) {
    bool fixed = is_point(of(r.result));
    std::string sum = of(r.result).lowest;
    for (int v : r.by) {
      fixed = fixed && is_point(of(v));
      sum = plus(sum, of(v).lowest);
    }
    of(r.target) = fixed ? Window{fmt::format("({}) % {}", sum, extent_(r.target)), kOne} : whole(r.target);
  }

  const VariableText& extent_;
  std::vector<Window> all_;
};

}  // namespace

std::vector<Window> windows_of(const Workspace& workspace, const IterationSpace<int64_t>& space,
                               const VariableText& name, const VariableText& extent) {
  WindowFinder finder(space_for(space, workspace.indices), workspace.producer_loops, extent, name);
  std::vector<Window> out;
  for (int index : workspace.indices) out.push_back({grouped(finder.of(index).lowest), finder.of(index).extent});
  return out;
}

}  // namespace distal::core
