// Products of several factors in two steps: cuBLAS multiplies two of them, a part at a time, into scratch memory; a
// kernel multiplies this product with the others. Nothing here depends on Legion.
#pragma once

#include "product.h"

namespace distal_gpu {

// Names are those of the whole leaf, unless said otherwise.
template <class Leaf, class Rest>
struct Steps {
  int left, right;                      // the operands that cuBLAS multiplies
  int product_indices[Leaf::kIndices];  // of their product, outermost first, then -1; the first one is divided
  int rest_indices[Rest::kIndices];     // by index of the rest
  int rest_operands[Rest::kOperands];   // by operand of the rest; -1 is the product
};

template <class Leaf, class Rest>
class SteppedProduct {
 public:
  using T = typename Leaf::T;

  SteppedProduct(const Box<Leaf>& box, const Steps<Leaf, Rest>& steps, const Device& device)
      : box_(box), steps_(steps), device_(device) {
    const int* all = steps.product_indices;
    Int elements = 1;
    int last = 0;
    while (last + 1 < Leaf::kIndices && all[last + 1] >= 0) ++last;
    for (int i = last; i >= 0; --i) {
      stride_[all[i]] = elements;
      if (i > 0) elements *= box.count[all[i]];
    }
    // The kernel uses the remaining scratch memory for its partial sums.
    const Int room = static_cast<Int>(device.scratch_bytes / 4 * 3 / sizeof(T));
    step_ = std::min(room / elements, box.count[all[0]]);
    room_ = step_ * elements;
  }

  bool fits() const { return step_ > 0 && MatrixProduct(axes(step_)).fits(); }

  int run(double scale) const {
    if (!Leaf::kAdds) {
      Box<Leaf> nothing = box_;
      for (int v = Leaf::kOutputs; v < Leaf::kIndices; ++v) nothing.count[v] = 0;
      compute_box(nothing, device_);  // sets the output to zero
    }
    const int divided = steps_.product_indices[0];
    for (Int first = 0; first < box_.count[divided]; first += step_) {
      const Int count = std::min(step_, box_.count[divided] - first);
      const int status = run_step(divided, first, count, scale);
      if (status != 0) return status;
    }
    return 0;
  }

 private:
  bool in_product(int v) const { return stride_[v] != 0; }
  bool in_rest(int v) const {
    return std::find(steps_.rest_indices, steps_.rest_indices + Rest::kIndices, v) !=
           steps_.rest_indices + Rest::kIndices;
  }

  ProductAxes axes(Int count) const {
    ProductAxes out;
    for (int v = 0; v < Leaf::kIndices; ++v) {
      const Int left = box_.stride[steps_.left][v], right = box_.stride[steps_.right][v];
      // What is summed here is an index of both operands, also if these are the same along all of it.
      if (!in_product(v) && in_rest(v)) continue;
      out.emplace_back();
      out.back().extent = v == steps_.product_indices[0] ? count : box_.count[v];
      out.back().strides[0] = stride_[v];
      out.back().strides[1] = left;
      out.back().strides[2] = right;
    }
    return out;
  }

  int run_step(int divided, Int first, Int count, double scale) const {
    auto moved = [&](int operand) { return box_.data[operand] + first * box_.stride[operand][divided]; };
    T* product = static_cast<T*>(device_.scratch);
    // What follows the product in scratch memory is free for both steps.
    const std::size_t taken = static_cast<std::size_t>(room_) * sizeof(T) / 16 * 16 + 16;
    Device device = device_;
    device.scratch = static_cast<char*>(device_.scratch) + taken;
    device.scratch_bytes -= taken;
    T* const data[] = {product, moved(steps_.left), moved(steps_.right)};
    const cublasStatus_t status = MatrixProduct(axes(count)).run<T>(device, data, scale, false);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    Box<Rest> rest;
    for (int v = 0; v < Rest::kIndices; ++v) {
      const int index = steps_.rest_indices[v];
      rest.count[v] = index == divided ? count : box_.count[index];
      for (int o = 0; o < Rest::kOperands; ++o) {
        rest.stride[o][v] = steps_.rest_operands[o] < 0 ? stride_[index] : box_.stride[steps_.rest_operands[o]][index];
      }
    }
    for (int o = 0; o < Rest::kOperands; ++o) {
      rest.data[o] = steps_.rest_operands[o] < 0 ? product : moved(steps_.rest_operands[o]);
    }
    compute_box(rest, device);
    return 0;
  }

  const Box<Leaf>& box_;
  const Steps<Leaf, Rest>& steps_;
  const Device& device_;
  Int stride_[Leaf::kIndices] = {};  // of the product
  Int step_ = 0, room_ = 0;
};

// Returns false, and does nothing, if there is no memory for the product, or cuBLAS does not take these strides.
template <class Leaf, class Rest>
bool multiply_in_steps(const Box<Leaf>& box, const Device& device, const Steps<Leaf, Rest>& steps, double scale,
                       int& status) {
  if (box.is_empty()) return Leaf::kAdds;
  const SteppedProduct<Leaf, Rest> product(box, steps, device);
  if (!product.fits()) return false;
  status = product.run(scale);
  return true;
}

}  // namespace distal_gpu
