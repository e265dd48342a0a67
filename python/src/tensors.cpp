#include <distal/error.h>
#include <distal/kernel.h>
#include <distal/tensor.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "arrays.h"
#include "interrupt.h"

namespace distal::python {

namespace {

// Arrays of pieces in the library's memory. They are valid until the next call.
nb::ndarray<nb::numpy> array_of(const PieceInfo& piece, ElementKind kind, nb::handle owner) {
  std::vector<size_t> extents(piece.extents.begin(), piece.extents.end());
  return nb::ndarray<nb::numpy>(piece.data, extents.size(), extents.data(), owner, piece.strides.data(),
                                dtype_of(kind));
}

}  // namespace

void bind_tensors(nb::module_& m) {
  nb::enum_<ElementKind>(m, "ElementKind", "The element types that a tensor can have.")
      .value("Float", ElementKind::Float, "float32")
      .value("Double", ElementKind::Double, "float64")
      .value("Int32", ElementKind::Int32, "int32")
      .value("Int64", ElementKind::Int64, "int64")
      .value("ComplexFloat", ElementKind::ComplexFloat, "complex64")
      .value("ComplexDouble", ElementKind::ComplexDouble, "complex128");
  nb::class_<Rectangle>(m, "Rectangle", "The rectangle lo <= x < hi of a tensor.")
      .def_ro("lo", &Rectangle::lo, "The first coordinate of each dimension.")
      .def_ro("hi", &Rectangle::hi, "One past the last coordinate of each dimension.")
      .def(
          "__eq__", [](const Rectangle& a, const Rectangle& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__",
           [](nb::handle r) { return nb::str("Rectangle(lo={}, hi={})").format(r.attr("lo"), r.attr("hi")); });
  nb::class_<PieceInfo>(m, "PieceLayout")
      .def_ro("processor", &PieceInfo::processor)
      .def_ro("rectangles", &PieceInfo::rectangles)
      .def_ro("extents", &PieceInfo::extents)
      .def_ro("strides", &PieceInfo::strides);
  // The class Tensor of the package holds one of these, and the arrays that are bound to it.
  nb::class_<TensorHandle>(m, "TensorHandle")
      .def(nb::init<ElementKind, std::string, std::vector<Int>, Format>())
      .def_prop_ro("name", &TensorHandle::name)
      .def_prop_ro("shape", &TensorHandle::shape)
      .def_prop_ro("type", &TensorHandle::type)
      .def(
          "access", [](const TensorHandle& t, const std::vector<Index>& at) { return Access(t.state(), at); },
          nb::sig("def access(self, at: Sequence[IndexVar | Index], /) -> Access"))
      .def_prop_ro("has_format", &TensorHandle::has_format)
      .def("scalar", [](const TensorHandle& t) { return Expr(t); })
      .def("schedule", &TensorHandle::schedule, nb::rv_policy::reference_internal)
      .def("layout", &TensorHandle::layout)
      .def("unbind",
           [](TensorHandle& t, int64_t processor) {
             try {
               t.bind_elements(processor, nullptr, 0);
             } catch (const Error&) {
               // The piece of another rank's processor: this rank no longer uses a buffer that it bound to it.
             }
           })
      .def(
          "bind",
          [](TensorHandle& t, int64_t processor, const Array& array) {
            t.bind(processor, memory_of(array), strides_of(array));
          },
          nb::sig("def bind(self, processor: int, array: object, /) -> None"))
      .def(
          "pieces",
          [](nb::handle self, ElementKind kind) {
            nb::list out;
            for (const PieceInfo& p : nb::cast<TensorHandle&>(self).pieces()) {
              out.append(nb::make_tuple(p, array_of(p, kind, self)));
            }
            return out;
          },
          nb::sig("def pieces(self, kind: ElementKind, /) -> list[tuple[PieceLayout, typing.Any]]"))
      .def("redistribute",
           [](TensorHandle& t, const Format& format, const RunOptions& options) {
             return until_interrupted(options, [&](const RunOptions& used) { return t.redistribute(format, used); });
           })
      .def("redistribution_cost", &TensorHandle::redistribution_cost)
      .def("copy_kernel", &TensorHandle::copy_kernel)
      .def("load", &TensorHandle::load, nb::call_guard<nb::gil_scoped_release>())
      .def("save", &TensorHandle::save, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace distal::python
