#include <distal/index.h>
#include <distal/tensor.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bindings.h"
#include "refuse.h"

namespace distal::python {

namespace {

// `i + 1` and `i - n`, for a variable or for an index that is shifted already.
template <class T>
void add_shifts(nb::class_<T>& bound) {
  bound
      .def(
          "__add__", [](const T& index, const Int& by) { return index + by; }, nb::is_operator(),
          nb::sig("def __add__(self, by: int | Int | Param, /) -> Index"))
      .def(
          "__radd__", [](const T& index, const Int& by) { return index + by; }, nb::is_operator(),
          nb::sig("def __radd__(self, by: int | Int | Param, /) -> Index"))
      .def(
          "__sub__", [](const T& index, const Int& by) { return index - by; }, nb::is_operator(),
          nb::sig("def __sub__(self, by: int | Int | Param, /) -> Index"));
  for (const char* name : {"__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__floordiv__",
                           "__truediv__", "__mod__", "__neg__"}) {
    add_last<const T&>(bound, name, [](const nb::args&, const nb::kwargs&) {
      refuse_type("an index is a variable, or a variable plus or minus an integer",
                  "write for instance B[i + 1] or B[i - n]");
    });
  }
}

std::string text_of(const Index& index) {
  const std::string& name = index.variable().name();
  if (!index.shift()) return name;
  std::string by = index.shift()->to_string();
  if (by.starts_with("0 - ")) return name + by.substr(1);  // as `i - n` shifts
  return by.starts_with('-') ? name + " - " + by.substr(1) : name + " + " + by;
}

}  // namespace

void bind_statements(nb::module_& m) {
  nb::class_<IndexVar> variable(m, "IndexVar", R"doc(A variable of index notation, or a loop made from one.

With an integer, a ``Param`` or an ``Int`` added to it, it is a shifted index of an operand: ``B[i + 1]``.

>>> import distal
>>> i = distal.IndexVar("i")
>>> i
i
>>> i - 1
i - 1
)doc");
  nb::class_<Index> index(m, "Index", R"doc(An index of an access: a variable, or a variable shifted by an integer.

>>> import numpy as np, distal
>>> i, n = distal.IndexVar("i"), distal.Param("n", 2)
>>> a, b = distal.Tensor("a", 3), distal.Tensor("b", 6, data=np.arange(6.0))
>>> a[i] = b[i + n]
>>> report = a.compile().run()
>>> a.numpy()
array([2., 3., 4.])
)doc");
  variable.def(nb::init<>())
      .def(nb::init<std::string>(), nb::arg("name"))
      .def_prop_ro("name", &IndexVar::name, "The name, as errors and ``Kernel.text`` show it.")
      .def("__repr__", &IndexVar::name);
  index.def(nb::init<IndexVar>(), nb::arg("variable"))
      .def_prop_ro("variable", &Index::variable, "The variable without the shift.")
      .def_prop_ro("shift", &Index::shift, "The integer that is added; None: not shifted.")
      .def("__repr__", &text_of);
  refuse_others<IndexVar*>(variable, "__init__", "IndexVar", "write for instance IndexVar(\"i\")");
  refuse_others<Index*>(index, "__init__", "Index", "write for instance Index(IndexVar(\"i\"))");
  nb::implicitly_convertible<IndexVar, Index>();
  add_shifts(variable);
  add_shifts(index);
  // The classes Expr and Access of the package hold these.
  nb::class_<Expr>(m, "Expr")
      .def(nb::init<double>(), nb::arg("literal"))
      .def(nb::init<const Int&>(), nb::arg("number"))
      .def("add", [](const Expr& a, const Expr& b) { return a + b; })
      .def("subtract", [](const Expr& a, const Expr& b) { return a - b; })
      .def("multiply", [](const Expr& a, const Expr& b) { return a * b; })
      .def("negate", [](const Expr& a) { return -a; });
  nb::class_<Access, Expr>(m, "Access")
      .def("assign", [](Access& a, const Expr& right) { a = right; })
      .def("add_to", [](Access& a, const Expr& right) { a += right; });
}

}  // namespace distal::python
