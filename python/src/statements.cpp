#include <distal/index.h>
#include <distal/tensor.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace distal::python {

void bind_statements(nb::module_& m) {
  nb::class_<IndexVar>(m, "IndexVar", "A variable of index notation, or a loop made from one.")
      .def(nb::init<>())
      .def(nb::init<std::string>(), nb::arg("name"))
      .def_prop_ro("name", &IndexVar::name, "The name, as errors and ``Kernel.text`` show it.")
      .def("__repr__", &IndexVar::name);
  // The classes Expr and Access of the package hold these.
  nb::class_<Expr>(m, "Expr")
      .def(nb::init<double>(), nb::arg("literal"))
      .def("add", [](const Expr& a, const Expr& b) { return a + b; })
      .def("subtract", [](const Expr& a, const Expr& b) { return a - b; })
      .def("multiply", [](const Expr& a, const Expr& b) { return a * b; })
      .def("negate", [](const Expr& a) { return -a; });
  nb::class_<Access, Expr>(m, "Access")
      .def("assign", [](Access& a, const Expr& right) { a = right; })
      .def("add_to", [](Access& a, const Expr& right) { a += right; });
}

}  // namespace distal::python
