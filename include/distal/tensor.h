#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "distal/format.h"
#include "distal/index.h"
#include "distal/schedule.h"

namespace distal {

struct TensorState;
class Kernel;
struct Cost;
struct RunReport;
struct RunOptions;

// The rectangle lo <= x < hi of a tensor.
struct Rectangle {
  std::vector<int64_t> lo;                            // the first coordinate, by dimension
  std::vector<int64_t> hi;                            // the one behind the last
  bool operator==(const Rectangle&) const = default;  // the same coordinates
};

// What one processor holds of a tensor: the rectangles (several where blocks are dealt out cyclically), packed into one
// block of `extents`, whose dimension d steps by strides[d] elements.
struct PieceInfo {
  int64_t processor = 0;              // numbered in the order of the machine, the last dimension fastest
  std::vector<Rectangle> rectangles;  // of the tensor
  std::vector<int64_t> extents;       // of the block
  std::vector<int64_t> strides;       // in elements
  void* data = nullptr;               // the block's first element
};

// The element types that a tensor can have.
enum class ElementKind { Float, Double, Int32, Int64, ComplexFloat, ComplexDouble };

// A tensor whose element type is known at run time only. Copies are the same tensor.
class TensorHandle {
 public:
  // Without a name it gets one of its own.
  TensorHandle(ElementKind type, std::string name, std::vector<Int> dimensions, Format format);

  const std::string& name() const;     // as errors and Kernel::text() show it
  std::vector<int64_t> shape() const;  // under the current values of the params

  // A(i, j), in a statement.
  template <class... Indices>
  Access operator()(const Indices&... indices) const {
    return Access(state_, std::vector<IndexVar>{indices...});
  }

  // The schedule of the statement that defines this tensor.
  Schedule& schedule();
  // The kernel of that statement.
  Kernel compile() const;

  // All pieces under the current values of the params, with memory of their own where the caller bound none. When a
  // param changes that the size or the distribution depends on, that memory is made anew, at zero: fill it again.
  std::vector<PieceInfo> pieces();
  // Uses the caller's memory for one processor's piece from now on, without a copy; strides count in elements and are
  // those of a dense block in the format's order if none are given. The memory must outlive the tensor. No two elements
  // of a piece may be one, and what a kernel writes must lie apart from what it reads.
  void bind(int64_t processor, void* data, std::vector<int64_t> strides = {});
  // The same, with the number of elements that the memory has: a piece that would not fit is refused. A processor that
  // owns no piece takes memory of no elements.
  void bind_elements(int64_t processor, void* data, int64_t elements, std::vector<int64_t> strides = {});

  // From now on the tensor has this format; its elements are what they were. It moves as a program does: an element
  // comes to each new owner once, and not at all to a processor that held it. The machines of the two formats may have
  // different shapes; processors are then the same that have the same number, counting in row-major order.
  // Buffers that the caller bound keep the old elements and are the tensor's no more; memory for the new pieces is its
  // own until the caller binds again. Kernels that use the tensor are compiled anew at their next run, against the new
  // format; where their schedule does not fit it, that run throws the Error.
  RunReport redistribute(const Format& format);
  // The same, run as `options` say.
  RunReport redistribute(const Format& format, const RunOptions& options);
  // What that would move and hold; moves nothing.
  Cost redistribution_cost(const Format& format) const;

  // Takes the elements of a tensor of the same shape and element type, wherever that one lives, in the same way. This
  // tensor keeps its format and its buffers: declare it in the new format, bind buffers, and copy into them.
  RunReport copy_from(const TensorHandle& source);
  // The same, run as `options` say.
  RunReport copy_from(const TensorHandle& source, const RunOptions& options);
  // The kernel of that copy, to look at or to run again and again.
  Kernel copy_kernel(const TensorHandle& source) const;

  void load(const std::string& npy_file);  // from a file of NumPy's, which must have this shape and type
  void save(const std::string& npy_file);  // to a file of NumPy's

  const std::shared_ptr<TensorState>& state() const { return state_; }  // for the library

 protected:
  // The element in its first owner's piece.
  void* element(const std::vector<int64_t>& at) const;
  // Calls f for the element in the piece of every owner.
  void for_each_replica(const std::vector<int64_t>& at, const std::function<void(void*)>& f) const;
  // Calls f for every element of every piece.
  void fill_elements(const std::function<void(const std::vector<int64_t>& at, void* element)>& f);

 private:
  std::shared_ptr<TensorState> state_;
};

// The ElementKind of a type of C++, as its member `value`.
template <class T>
struct ElementKindOf;
template <>
struct ElementKindOf<float> {
  static constexpr ElementKind value = ElementKind::Float;
};
template <>
struct ElementKindOf<double> {
  static constexpr ElementKind value = ElementKind::Double;
};
template <>
struct ElementKindOf<int32_t> {
  static constexpr ElementKind value = ElementKind::Int32;
};
template <>
struct ElementKindOf<int64_t> {
  static constexpr ElementKind value = ElementKind::Int64;
};
template <>
struct ElementKindOf<std::complex<float>> {
  static constexpr ElementKind value = ElementKind::ComplexFloat;
};
template <>
struct ElementKindOf<std::complex<double>> {
  static constexpr ElementKind value = ElementKind::ComplexDouble;
};

// A tensor of elements of type T: a thin shell over TensorHandle.
template <class T>
class Tensor : public TensorHandle {
 public:
  // With a name of its own; without dimensions it is a scalar.
  explicit Tensor(std::vector<Int> dimensions = {}, Format format = {})
      : TensorHandle(ElementKindOf<T>::value, "", std::move(dimensions), std::move(format)) {}
  // With the name that errors and Kernel::text() show.
  Tensor(std::string name, std::vector<Int> dimensions, Format format = {})
      : TensorHandle(ElementKindOf<T>::value, std::move(name), std::move(dimensions), std::move(format)) {}

  // An element, from its first owner.
  T at(const std::vector<int64_t>& coordinates) const { return *static_cast<const T*>(element(coordinates)); }
  // Sets an element in all of its replicas.
  void set(const std::vector<int64_t>& coordinates, T value) {
    for_each_replica(coordinates, [&](void* e) { *static_cast<T*>(e) = value; });
  }
  using TensorHandle::bind;
  // Uses the caller's memory for one processor's piece, and refuses it if the piece would not fit.
  void bind(int64_t processor, std::span<T> data, std::vector<int64_t> strides = {}) {
    bind_elements(processor, data.data(), static_cast<int64_t>(data.size()), std::move(strides));
  }
  // Sets every element to f(coordinates).
  void fill(const std::function<T(const std::vector<int64_t>& at)>& f) {
    fill_elements([&](const std::vector<int64_t>& at, void* e) { *static_cast<T*>(e) = f(at); });
  }
  // Calls f(coordinates, value) for every element of every piece; an element of several replicas comes several times.
  void for_each(const std::function<void(const std::vector<int64_t>& at, T& value)>& f) {
    fill_elements([&](const std::vector<int64_t>& at, void* e) { f(at, *static_cast<T*>(e)); });
  }
};

}  // namespace distal
