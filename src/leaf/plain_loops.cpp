#include "leaf/plain_loops.h"

#include <type_traits>

#include "lang/element_type.h"

namespace distal::core {

namespace {

// The innermost loop of PlainProduct.
template <class T>
void multiply_along(const Axis& axis, bool negated, T* output, const T* left, const T* right) {
  for (int64_t x = 0; x < axis.extent; ++x) {
    T& out = output[x * axis.strides[0]];
    T product = wrapping_multiply(left[x * axis.strides[1]], right[x * axis.strides[2]]);
    out = wrapping_add(out, negated ? wrapping_negate(product) : product);
  }
}

// Plain loops for what BLAS cannot take: integers, and matrices without a stride of 1.
template <class T>
class PlainProduct : public BoxKernel {
 public:
  explicit PlainProduct(bool negated) : negated_(negated) {}
  bool takes(const BoxShape&) const override { return true; }
  void run(const Box& box, bool overwrite) const override {
    if (overwrite) clear_output(box, sizeof(T));
    absl::InlinedVector<Axis, 6> outer = box.axes;
    if (outer.empty()) outer.push_back({1, {0, 0, 0}});
    size_t at = innermost(outer);
    Axis along = outer[at];
    outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(at));
    for_each(outer, box.data, sizeof(T), [&](const auto& data) {
      multiply_along(along, negated_, reinterpret_cast<T*>(data[0]), reinterpret_cast<const T*>(data[1]),
                     reinterpret_cast<const T*>(data[2]));
    });
  }
  std::string description() const override {
    return std::is_integral_v<T> ? "plain loops: no BLAS for integers" : "plain loops: no BLAS for such strides";
  }
  std::string explain(const BoxShape&, const std::vector<std::string>&) const override { return description(); }

 private:
  // The last axis of the output, so that additions do not wait for one another; the last sum if the output has no axis.
  static size_t innermost(const absl::InlinedVector<Axis, 6>& axes) {
    for (size_t a = axes.size(); a > 0; --a) {
      if (axes[a - 1].strides[0] != 0) return a - 1;
    }
    return axes.size() - 1;
  }

  bool negated_;
};

}  // namespace

std::unique_ptr<BoxKernel> make_plain_loops(const LeafTerm& term, ElementType type) {
  return with_element_type(type, [&](auto zero) -> std::unique_ptr<BoxKernel> {
    return std::make_unique<PlainProduct<decltype(zero)>>(term.negated);
  });
}

}  // namespace distal::core
