#include <distal/mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <type_traits>

// The engine for ranks of one MPI. It is a module of its own, so that the package links no MPI: two in one process
// break.
#ifdef OPEN_MPI
#define DISTAL_MPI_MODULE _mpi_openmpi
#else
#define DISTAL_MPI_MODULE _mpi_mpich
#endif

namespace {

namespace nb = nanobind;
using distal::MpiKernel;

// A communicator from the number or the address that mpi4py calls its handle.
template <class Communicator>
Communicator from_handle(int64_t handle) {
  if constexpr (std::is_pointer_v<Communicator>) {
    return reinterpret_cast<Communicator>(handle);
  } else {
    return static_cast<Communicator>(handle);
  }
}

}  // namespace

NB_MODULE(DISTAL_MPI_MODULE, m) {
  nb::module_::import_("distal._core");  // has the types and the errors
  nb::class_<MpiKernel>(m, "MpiKernel")
      .def(
          "__init__",
          [](MpiKernel* self, const distal::Kernel& kernel, int64_t communicator) {
            new (self) MpiKernel(kernel, from_handle<MPI_Comm>(communicator));
          },
          nb::call_guard<nb::gil_scoped_release>())
      .def("processors", &MpiKernel::processors)
      .def("run", &MpiKernel::run, nb::call_guard<nb::gil_scoped_release>());
}
