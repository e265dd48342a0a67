#include <distal/kernel.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "arrays.h"

namespace distal::python {

namespace {

// A kernel on one processor whose tensors take other arrays at every call, as einsum needs it.
class Call {
 public:
  Call(Kernel kernel, std::vector<TensorHandle> tensors) : kernel_(std::move(kernel)) {
    for (TensorHandle& t : tensors) tensors_.push_back({std::move(t), nullptr, {}});
  }

  // One array for each tensor, which the caller has checked.
  void run(const nb::args& arrays) {
    std::vector<Array> operands;
    for (nb::handle a : arrays) operands.push_back(nb::cast<Array>(a));
    nb::gil_scoped_release release;
    std::lock_guard lock(mutex_);  // two calls would take each other's arrays
    for (size_t t = 0; t < tensors_.size(); ++t) bind(tensors_[t], operands[t]);
    kernel_.run();
  }

 private:
  struct Bound {
    TensorHandle tensor;
    void* data;
    std::vector<int64_t> strides;
  };

  static void bind(Bound& bound, const Array& array) {
    void* data = memory_of(array);
    std::vector<int64_t> strides = strides_of(array);
    if (bound.data == data && bound.strides == strides) return;
    bound.tensor.bind(0, data, strides);
    bound.data = data;
    bound.strides = std::move(strides);
  }

  Kernel kernel_;
  std::vector<Bound> tensors_;
  std::mutex mutex_;
};

}  // namespace

void bind_calls(nb::module_& m) {
  nb::class_<Call>(m, "Call")
      .def(nb::init<Kernel, std::vector<TensorHandle>>())
      .def("run", &Call::run, nb::sig("def run(self, *arrays: object) -> None"));
}

}  // namespace distal::python
