#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "distal/format.h"
#include "distal/index.h"
#include "distal/kinds.h"
#include "distal/schedule.h"

namespace distal {

struct TensorState;
class Kernel;
struct Cost;
struct RunReport;
struct RunOptions;
struct FindOptions;

// The rectangle lo <= x < hi of a tensor.
struct Rectangle {
  std::vector<int64_t> lo;                            // the first coordinate of each dimension
  std::vector<int64_t> hi;                            // one past the last coordinate of each dimension
  bool operator==(const Rectangle&) const = default;  // compares the coordinates
};

// The piece of a tensor that one processor owns. Its rectangles (several if the distribution is cyclic) are packed into
// one block in memory.
struct PieceInfo {
  int64_t processor = 0;              // numbered in row-major order of the machine
  std::vector<Rectangle> rectangles;  // in coordinates of the tensor
  std::vector<int64_t> extents;       // of the block
  std::vector<int64_t> strides;       // of the block, in elements
  void* data = nullptr;               // the first element of the block
};

// A tensor whose element type is known at run time only. A copy is the same tensor.
class TensorHandle {
 public:
  // If it has no name, every program gives it one.
  TensorHandle(ElementKind type, std::string name, std::vector<Int> dimensions, Format format);
  TensorHandle(const TensorHandle&) = default;             // also for std::move, after which both are the same tensor
  TensorHandle& operator=(const TensorHandle&) = default;  // the same

  const std::string& name() const;     // empty if it has none
  ElementKind type() const;            // of the elements
  std::vector<int64_t> shape() const;  // for the current values of the params

  // An access such as A(i, j), for a statement.
  template <class... Indices>
  Access operator()(const Indices&... indices) const {
    return Access(state_, std::vector<Index>{indices...});
  }

  // The schedule of the statement that defines this tensor. A call of it gives the statement a schedule, perhaps an
  // empty one.
  Schedule& schedule();
  // The kernel of the statement that defines this tensor. What the statement leaves out is found.
  Kernel compile() const;
  // The same, with options for what is found.
  Kernel compile(const FindOptions& find) const;

  // Whether its format is known. One that is left out is found at the first compile that uses the tensor, for the
  // values of the params then; the elements keep their values. Before that, pieces, layout, bind and redistribute throw
  // an Error.
  bool has_format() const;

  // All pieces for the current values of the params. DISTAL allocates memory for every piece that the caller bound no
  // buffer to. When a param changes that the shape or the distribution depends on, DISTAL allocates that memory again,
  // filled with zeros, and the caller must fill it again.
  std::vector<PieceInfo> pieces();
  // The same without memory, for a caller who will bind buffers: `data` is null, and the strides are those of a dense
  // block. DISTAL allocates nothing.
  std::vector<PieceInfo> layout() const;
  // Uses the caller's buffer for one processor's piece from now on, without a copy. Strides count in elements; the
  // default is a dense block in the storage order of the format. The buffer must outlive the tensor. The elements of a
  // piece must not overlap, and a kernel's output must not overlap its inputs. For a processor that owns no element any
  // buffer will do, also a null pointer.
  void bind(int64_t processor, void* data, std::vector<int64_t> strides = {});
  // The same, for a buffer of `elements` elements: throws an Error if the piece does not fit.
  void bind_elements(int64_t processor, void* data, int64_t elements, std::vector<int64_t> strides = {});

  // Moves the tensor into another format; its elements keep their values. Each new owner that lacks an element receives
  // it once. The machines of the two formats may have different shapes; processors with the same row-major number are
  // the same processor. Buffers that the caller bound keep the old elements and no longer belong to the tensor. The new
  // pieces lie in memory that DISTAL allocates, until the caller binds buffers again. A kernel that uses the tensor is
  // compiled for the new format at its next run, which throws an Error if the schedule does not fit the format.
  RunReport redistribute(const Format& format);
  // The same, with options for the run.
  RunReport redistribute(const Format& format, const RunOptions& options);
  // What redistribute would move and hold; moves nothing.
  Cost redistribution_cost(const Format& format) const;

  // Copies the elements of another tensor of the same shape and element type, whatever its format. This tensor keeps
  // its format and its buffers: to redistribute into buffers of your own, declare a tensor in the new format, bind the
  // buffers and copy into it.
  RunReport copy_from(const TensorHandle& source);
  // The same, with options for the run.
  RunReport copy_from(const TensorHandle& source, const RunOptions& options);
  // The kernel of that copy, to inspect it or to run it many times.
  Kernel copy_kernel(const TensorHandle& source) const;

  void load(const std::string& npy_file);  // from a NumPy file, which must have this shape and element type
  void save(const std::string& npy_file);  // to a NumPy file

  const std::shared_ptr<TensorState>& state() const { return state_; }  // for use by the library only

 protected:
  // Throws an Error if the elements have another type.
  void require_type(ElementKind type) const;
  // The element in the piece of its first owner.
  void* element(const std::vector<int64_t>& at) const;
  // Calls f for the element in the piece of each owner.
  void for_each_replica(const std::vector<int64_t>& at, const std::function<void(void*)>& f) const;
  // Calls f for every element of every piece.
  void fill_elements(const std::function<void(const std::vector<int64_t>& at, void* element)>& f);

 private:
  std::shared_ptr<TensorState> state_;
};

// A tensor with elements of type T: a typed wrapper around TensorHandle.
template <class T>
class Tensor : public TensorHandle {
 public:
  // Without a name: every program gives it one. A tensor without dimensions is a scalar.
  explicit Tensor(std::vector<Int> dimensions = {}, Format format = {})
      : TensorHandle(ElementKindOf<T>::value, "", std::move(dimensions), std::move(format)) {}
  // With a name, as errors and Kernel::text() show it.
  Tensor(std::string name, std::vector<Int> dimensions, Format format = {})
      : TensorHandle(ElementKindOf<T>::value, std::move(name), std::move(dimensions), std::move(format)) {}

  // A tensor that was made without its type, such as one of a Program. Throws an Error if its elements are not of type
  // T.
  explicit Tensor(const TensorHandle& handle) : TensorHandle(handle) { require_type(ElementKindOf<T>::value); }

  // The value of an element, from its first owner.
  T at(const std::vector<int64_t>& coordinates) const { return *static_cast<const T*>(element(coordinates)); }
  // Sets an element in all of its replicas.
  void set(const std::vector<int64_t>& coordinates, T value) {
    for_each_replica(coordinates, [&](void* e) { *static_cast<T*>(e) = value; });
  }
  using TensorHandle::bind;
  // Uses the caller's buffer for one processor's piece. Throws an Error if the piece does not fit.
  void bind(int64_t processor, std::span<T> data, std::vector<int64_t> strides = {}) {
    bind_elements(processor, data.data(), static_cast<int64_t>(data.size()), std::move(strides));
  }
  // Sets every element to f(coordinates).
  void fill(const std::function<T(const std::vector<int64_t>& at)>& f) {
    fill_elements([&](const std::vector<int64_t>& at, void* e) { *static_cast<T*>(e) = f(at); });
  }
  // Calls f(coordinates, value) for every element of every piece; a replicated element is visited once per replica.
  void for_each(const std::function<void(const std::vector<int64_t>& at, T& value)>& f) {
    fill_elements([&](const std::vector<int64_t>& at, void* e) { f(at, *static_cast<T*>(e)); });
  }
};

}  // namespace distal
