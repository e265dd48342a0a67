#include <distal/program.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "interrupt.h"

namespace distal::python {

namespace {

using Make = Program(const std::string&, const std::map<std::string, int64_t>&, std::optional<ElementKind>,
                     const FindOptions&);

template <Make make>
Program made_until_interrupted(const std::string& text, const std::map<std::string, int64_t>& params,
                               std::optional<ElementKind> type, const FindOptions& find) {
  return until_interrupted(find, [&](const FindOptions& used) { return make(text, params, type, used); });
}

}  // namespace

void bind_programs(nb::module_& m) {
  nb::class_<Program>(m, "Program")
      .def_static("load", &made_until_interrupted<Program::load>)
      .def_static("parse", &made_until_interrupted<Program::parse>)
      .def("kernel", &Program::kernel)
      .def("tensors", &Program::tensors)
      .def("tensor", [](const Program& p, const std::string& name) { return p.tensor(name); })
      .def("params", &Program::params)
      .def("param", &Program::param);
}

}  // namespace distal::python
