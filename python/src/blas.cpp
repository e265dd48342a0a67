#include <distal/blas.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "refuse.h"

namespace distal::python {

void bind_blas(nb::module_& m) {
  m.def("set_fallback_blas", &set_fallback_blas, nb::arg("library"), R"doc(Names a BLAS with CBLAS for leaves to use.

It is used where the BLAS that the build found is not installed; $DISTAL_BLAS goes before both. The package names the
OpenBLAS of PyPI's scipy-openblas32 when it is imported. Call it before the first run.)doc");
  refuse_others<>(m, "set_fallback_blas", "set_fallback_blas", "write the name of a library, as a string");
  m.def("blas_description", &blas_description, "One line that describes the BLAS of leaves.");
}

}  // namespace distal::python
