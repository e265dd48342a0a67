#include <distal/program.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace distal::python {

void bind_programs(nb::module_& m) {
  nb::class_<Program>(m, "Program")
      .def_static("load", &Program::load, nb::call_guard<nb::gil_scoped_release>())
      .def_static("parse", &Program::parse, nb::call_guard<nb::gil_scoped_release>())
      .def("kernel", &Program::kernel)
      .def("tensors", &Program::tensors)
      .def("tensor", [](const Program& p, const std::string& name) { return p.tensor(name); })
      .def("params", &Program::params)
      .def("param", &Program::param);
}

}  // namespace distal::python
