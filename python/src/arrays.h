#pragma once

#include <distal/kinds.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <vector>

#include "bindings.h"

namespace distal::python {

// Any array in host memory that supports DLPack or the buffer protocol, writable or not.
using Array = nb::ndarray<nb::ro, nb::device::cpu>;

inline nb::dlpack::dtype dtype_of(ElementKind kind) {
  switch (kind) {
    case ElementKind::Float: return nb::dtype<float>();
    case ElementKind::Double: return nb::dtype<double>();
    case ElementKind::Int32: return nb::dtype<int32_t>();
    case ElementKind::Int64: return nb::dtype<int64_t>();
    case ElementKind::ComplexFloat: return nb::dtype<std::complex<float>>();
    case ElementKind::ComplexDouble: return nb::dtype<std::complex<double>>();
  }
  return {};
}

inline std::vector<int64_t> shape_of(const Array& array) {
  return std::vector<int64_t>(array.shape_ptr(), array.shape_ptr() + array.ndim());
}

inline std::vector<int64_t> strides_of(const Array& array) {
  return std::vector<int64_t>(array.stride_ptr(), array.stride_ptr() + array.ndim());
}

// The memory of an array. The package passes read-only arrays for tensors that no kernel writes.
inline void* memory_of(const Array& array) { return const_cast<void*>(array.data()); }

}  // namespace distal::python
