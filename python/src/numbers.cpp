#include <distal/param.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "refuse.h"

namespace distal::python {

namespace {

void refuse_division() {
  refuse_type("params are integers, and have no /", "// divides and rounds down, distal.ceildiv divides and rounds up");
}

// The arithmetic of Int, on a class that converts to it.
template <class T>
void add_arithmetic(nb::class_<T>& type) {
  type.def(
          "__add__", [](const T& a, const Int& b) { return Int(a) + b; }, nb::is_operator(),
          nb::sig("def __add__(self, other: int | Int | Param, /) -> Int"))
      .def(
          "__radd__", [](const T& a, const Int& b) { return b + Int(a); }, nb::is_operator(),
          nb::sig("def __radd__(self, other: int | Int | Param, /) -> Int"))
      .def(
          "__sub__", [](const T& a, const Int& b) { return Int(a) - b; }, nb::is_operator(),
          nb::sig("def __sub__(self, other: int | Int | Param, /) -> Int"))
      .def(
          "__rsub__", [](const T& a, const Int& b) { return b - Int(a); }, nb::is_operator(),
          nb::sig("def __rsub__(self, other: int | Int | Param, /) -> Int"))
      .def(
          "__mul__", [](const T& a, const Int& b) { return Int(a) * b; }, nb::is_operator(),
          nb::sig("def __mul__(self, other: int | Int | Param, /) -> Int"))
      .def(
          "__rmul__", [](const T& a, const Int& b) { return b * Int(a); }, nb::is_operator(),
          nb::sig("def __rmul__(self, other: int | Int | Param, /) -> Int"))
      .def(
          "__floordiv__", [](const T& a, const Int& b) { return Int(a) / b; }, nb::is_operator(),
          nb::sig("def __floordiv__(self, other: int | Int | Param, /) -> Int"))
      .def(
          "__rfloordiv__", [](const T& a, const Int& b) { return b / Int(a); }, nb::is_operator(),
          nb::sig("def __rfloordiv__(self, other: int | Int | Param, /) -> Int"))
      .def(
          "__truediv__", [](const T&, const Int&) { refuse_division(); }, nb::is_operator(),
          nb::sig("def __truediv__(self, other: typing.NoReturn, /) -> typing.NoReturn"))
      .def(
          "__rtruediv__", [](const T&, const Int&) { refuse_division(); }, nb::is_operator(),
          nb::sig("def __rtruediv__(self, other: typing.NoReturn, /) -> typing.NoReturn"))
      .def("__neg__", [](const T& a) { return Int(0) - Int(a); })
      .def("__int__", [](const T& a) { return Int(a).value(); })
      .def("__index__", [](const T& a) { return Int(a).value(); });
}

}  // namespace

void bind_numbers(nb::module_& m) {
  nb::class_<Param> param(m, "Param", R"doc(A number that a compiled kernel takes at run time.

Set ``value`` and run the kernel again: everything computed from the param follows.

>>> import distal
>>> n = distal.Param("n", 100)
>>> half = n // 2
>>> n.value = 64
>>> half.value
32
)doc");
  nb::class_<Int> number(m, "Int", R"doc(An integer expression over params, for sizes, grid extents and split sizes.

>>> import distal
>>> n = distal.Param("n", 10)
>>> print(distal.ceildiv(n, 4) + 1)
ceildiv(n, 4) + 1
>>> (distal.ceildiv(n, 4) + 1).value
4
)doc");
  param.def(nb::init<int64_t>(), nb::arg("value") = 1)
      .def(nb::init<std::string, int64_t>(), nb::arg("name"), nb::arg("value"))
      .def(nb::init<const Param&>(), nb::arg("param"))
      .def_prop_ro("name", &Param::name, "The name, as errors and ``Kernel.text`` show it.")
      .def_prop_rw(
          "_value", &Param::value, [](Param& p, int64_t value) { p = value; }, "The current value.")
      .def("__repr__", [](const Param& p) { return p.name() + " = " + std::to_string(p.value()); });
  number.def(nb::init<int64_t>(), nb::arg("value"))
      .def(nb::init<const Param&>(), nb::arg("param"))
      .def_prop_ro("value", &Int::value, "The value, for the current values of its params.")
      .def("__repr__", &Int::to_string);
  nb::implicitly_convertible<int64_t, Int>();
  nb::implicitly_convertible<Param, Int>();
  add_arithmetic(param);
  add_arithmetic(number);
  m.def("ceildiv", &ceildiv, nb::arg("a"), nb::arg("b"), "The quotient, rounded up.",
        nb::sig("def ceildiv(a: int | Int | Param, b: int | Int | Param) -> Int"));
  m.def("min", static_cast<Int (*)(const Int&, const Int&)>(&min), nb::arg("a"), nb::arg("b"), "The smaller one.",
        nb::sig("def min(a: int | Int | Param, b: int | Int | Param) -> Int"));
  m.def("max", static_cast<Int (*)(const Int&, const Int&)>(&max), nb::arg("a"), nb::arg("b"), "The larger one.",
        nb::sig("def max(a: int | Int | Param, b: int | Int | Param) -> Int"));
  for (const char* name : {"ceildiv", "min", "max"}) {
    refuse_others<>(m, name, name, "it takes two integers, params or expressions of params");
  }
}

}  // namespace distal::python
