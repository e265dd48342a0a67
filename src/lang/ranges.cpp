#include "lang/ranges.h"

#include <fmt/format.h>

#include <optional>

namespace distal::core {

namespace {

const Tensor& tensor_of(const Module& module, const Access& access) {
  const Tensor* tensor = module.find_tensor(access.tensor);
  if (tensor == nullptr) throw Error(fmt::format("unknown tensor `{}`", access.tensor), access.span);
  if (tensor->dimensions.size() == access.indices.size()) return *tensor;
  throw Error(fmt::format("{} has {} dimensions, but {} indices are given", tensor->name, tensor->dimensions.size(),
                          access.indices.size()),
              access.span);
}

// An index in one dimension of one access.
struct Use {
  const Access* access;
  size_t dimension;
  int64_t extent;  // of the tensor there
  int64_t offset;

  int64_t left() const { return extent - offset; }
};

class RangeCheck {
 public:
  RangeCheck(const Module& module, const Statement& statement, const Bindings& params)
      : statement_(statement), all_(accesses(statement)) {
    for (const Access& access : all_) {
      const Tensor& tensor = tensor_of(module, access);
      for (size_t d = 0; d < access.indices.size(); ++d) {
        uses_[access.indices[d].name].push_back(
            {&access, d, tensor.dimensions[d].evaluate(params), access.offset(d).evaluate(params)});
      }
    }
  }

  void run() const {
    for (const Access& access : all_) {
      for (const IndexVar& v : access.indices) check(v, uses_.at(v.name));
    }
  }

 private:
  void check(const IndexVar& v, const std::vector<Use>& uses) const {
    const Use* first = nullptr;
    for (const Use& use : uses) {
      if (use.offset < 0) refuse_negative(v, use, uses);
      if (use.left() < 0) refuse_beyond_end(use);
      if (use.access->is_shifted(use.dimension)) continue;
      if (first == nullptr) first = &use;
      if (first->extent != use.extent) refuse_shape(use.access->indices[use.dimension], *first, use);
    }
    for (const Use& use : uses) {
      if (first != nullptr && use.left() < first->extent) refuse_leaving(use, *first);
    }
  }

  [[noreturn]] static void refuse_shape(const IndexVar& v, const Use& a, const Use& b) {
    throw Error(fmt::format("index {} has extent {} in {} dimension {} but {} in {} dimension {}", v.name, a.extent,
                            a.access->tensor, a.dimension, b.extent, b.access->tensor, b.dimension),
                v.span, "dimensions that share an index must have the same size");
  }

  // Moves the range of the index instead: this access begins at 0, and the others further on.
  [[noreturn]] void refuse_negative(const IndexVar& v, const Use& use, const std::vector<Use>& uses) const {
    IntExpr offset = use.access->offset(use.dimension);
    bool is_minus = offset.kind() == IntExpr::Kind::Sub && offset.a().is_constant(0);
    IntExpr by = is_minus ? offset.b() : IntExpr(0) - offset;
    std::string remedy;
    for (const Use& u : uses) {
      Access moved = *u.access;
      moved.shifts.resize(moved.indices.size());
      moved.shifts[u.dimension] = u.access->offset(u.dimension) == offset ? 0 : u.access->offset(u.dimension) + by;
      std::string text = fmt::format("`{}`", to_string(moved));
      if (remedy.find(text) == std::string::npos) remedy += (remedy.empty() ? "" : ", ") + text;
    }
    bool left = uses[0].access == &all_[0] && statement_.op == AssignOp::Assign;
    throw Error(fmt::format("{} is shifted by {}, and indices begin at 0", to_string(*use.access), use.offset),
                use.access->span,
                fmt::format("move the range of {} instead: write {}{}", v.name, remedy,
                            left ? "; a shifted left side takes `+=` or `-=`" : ""));
  }

  [[noreturn]] static void refuse_beyond_end(const Use& use) {
    throw Error(fmt::format("{} begins at {} in dimension {}, where {} has {} elements", to_string(*use.access),
                            use.offset, use.dimension, use.access->tensor, use.extent),
                use.access->span, "a shift is at most the extent of its dimension");
  }

  [[noreturn]] static void refuse_leaving(const Use& use, const Use& first) {
    throw Error(
        fmt::format("{} goes from {} to {} in dimension {}, where {} has {} elements", to_string(*use.access),
                    use.offset, use.offset + first.extent - 1, use.dimension, use.access->tensor, use.extent),
        use.access->span,
        fmt::format("{} has the range of {} dimension {}, of {} elements; where every access shifts an index, "
                    "for instance by `+ 0`, its range is the smallest that is left",
                    use.access->indices[use.dimension].name, first.access->tensor, first.dimension, first.extent));
  }

  const Statement& statement_;
  std::vector<Access> all_;
  std::map<std::string, std::vector<Use>> uses_;
};

}  // namespace

std::map<std::string, IntExpr> variable_extents(const Module& module, const Statement& statement) {
  std::map<std::string, IntExpr> plain, shifted;
  for (const Access& access : accesses(statement)) {
    const Tensor& tensor = tensor_of(module, access);
    for (size_t d = 0; d < access.indices.size(); ++d) {
      const std::string& v = access.indices[d].name;
      if (!access.is_shifted(d)) {
        plain.emplace(v, tensor.dimensions[d]);
        continue;
      }
      IntExpr left = tensor.dimensions[d] - access.offset(d);
      auto [found, fresh] = shifted.emplace(v, left);
      if (!fresh) found->second = min(found->second, left);
    }
  }
  plain.merge(shifted);
  return plain;
}

std::vector<std::string> empty_indices(const Module& module, const Statement& statement, const Bindings& params) {
  std::vector<std::string> out;
  for (const auto& [name, extent] : variable_extents(module, statement)) {
    if (extent.evaluate(params) == 0) out.push_back(name);
  }
  return out;
}

void check_ranges(const Module& module, const Statement& statement, const Bindings& params) {
  RangeCheck(module, statement, params).run();
}

}  // namespace distal::core
