#include <distal/kernel.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays.h"
#include "interrupt.h"
#include "small_copy.h"

namespace distal::python {

namespace {

// Below this, copying an array costs less than binding it.
constexpr size_t kSmallBytes = 4096;

// One tensor of a Call.
class Operand {
 public:
  explicit Operand(TensorHandle tensor) : tensor_(std::move(tensor)), extents_(tensor_.shape()) {}

  // The array that the next run uses. A small tensor has memory of its own, into which inputs are copied.
  void take(const Array& array, bool is_input) {
    auto bytes = static_cast<size_t>(array.itemsize());
    if (array.size() * bytes > kSmallBytes) {
      bind(memory_of(array), strides_of(array));
      return;
    }
    if (own_.empty()) make_own(array.size() * bytes);
    if (is_input) copy_small(own(), theirs(array, strides_of(array)), bytes);
  }

  void give_back(const Array& array) const {
    if (!own_.empty()) copy_small(theirs(array, strides_of(array)), own(), static_cast<size_t>(array.itemsize()));
  }

 private:
  SmallArray own() const {
    return {reinterpret_cast<std::byte*>(const_cast<std::max_align_t*>(own_.data())), extents_, strides_};
  }
  SmallArray theirs(const Array& array, const std::vector<int64_t>& strides) const {
    return {static_cast<std::byte*>(memory_of(array)), extents_, strides};
  }

  void make_own(size_t bytes) {
    own_.resize(bytes / sizeof(std::max_align_t) + 1);
    std::vector<int64_t> dense(extents_.size(), 1);
    for (size_t d = dense.size(); d > 1; --d) dense[d - 2] = dense[d - 1] * extents_[d - 1];
    bind(own_.data(), dense);
  }

  void bind(void* data, std::vector<int64_t> strides) {
    if (data_ == data && strides_ == strides) return;
    data_ = nullptr;  // also where the array is refused
    tensor_.bind(0, data, strides);
    data_ = data;
    strides_ = std::move(strides);
  }

  TensorHandle tensor_;
  std::vector<int64_t> extents_;
  void* data_ = nullptr;
  std::vector<int64_t> strides_;
  std::vector<std::max_align_t> own_;
};

// A kernel on one processor whose tensors get other arrays at each call, for einsum. The first tensor is the output.
class Call {
 public:
  Call(Kernel kernel, const std::vector<TensorHandle>& tensors) : kernel_(std::move(kernel)) {
    for (const TensorHandle& t : tensors) operands_.emplace_back(t);
  }

  // One array for each tensor, of its shape and type. Throws std::invalid_argument for one that is not aligned.
  void run(const nb::args& given) {
    std::vector<Array> arrays;
    for (nb::handle a : given) arrays.push_back(nb::cast<Array>(a));
    for (const Array& a : arrays) require_aligned(a);
    until_interrupted(RunOptions(), [&](const RunOptions& options) {
      std::lock_guard lock(mutex_);  // two calls would take each other's arrays
      for (size_t t = 0; t < operands_.size(); ++t) operands_[t].take(arrays[t], t > 0);
      RunReport report = kernel_.run(options);
      operands_[0].give_back(arrays[0]);
      return report;
    });
  }

 private:
  static void require_aligned(const Array& array) {
    size_t alignment = array.itemsize() < 8 ? array.itemsize() : 8;
    if (reinterpret_cast<uintptr_t>(array.data()) % alignment != 0) throw std::invalid_argument("not aligned");
  }

  Kernel kernel_;
  std::vector<Operand> operands_;
  std::mutex mutex_;
};

}  // namespace

void bind_calls(nb::module_& m) {
  nb::class_<Call>(m, "Call")
      .def(nb::init<Kernel, std::vector<TensorHandle>>())
      .def("run", &Call::run, nb::sig("def run(self, *arrays: object) -> None"));
}

}  // namespace distal::python
