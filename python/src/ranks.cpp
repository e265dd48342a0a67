#include <dlfcn.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>

#include "bindings.h"
#include "interrupt.h"
#include "mpi/ranks.h"

namespace distal::python {

namespace {

// The library for one MPI. It is never unloaded.
class LoadedRanks {
 public:
  explicit LoadedRanks(const std::string& file) {
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw std::runtime_error(dlerror());
    auto get = reinterpret_cast<GetRanksLibrary>(dlsym(handle, kGetRanksLibrary));
    if (get == nullptr) throw std::runtime_error(file + " is no library for ranks");
    library_ = get();
  }

  const RanksLibrary* operator->() const { return library_; }

 private:
  const RanksLibrary* library_;
};

}  // namespace

void bind_ranks(nb::module_& m) {
  using Release = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<RanksKernel>(m, "RanksKernel")
      .def("processors", &RanksKernel::processors, Release())
      .def("run", [](RanksKernel& kernel, const RunOptions& options) {
        return until_interrupted(options, [&](const RunOptions& used) { return kernel.run(used); });
      });
  nb::class_<LoadedRanks>(m, "RanksLibrary")
      .def(nb::init<const std::string&>())
      .def(
          "kernel", [](const LoadedRanks& ranks, const Kernel& k, int64_t comm) { return ranks->kernel(k, comm); },
          Release())
      .def(
          "load",
          [](const LoadedRanks& ranks, const TensorHandle& t, const std::string& file, int64_t comm) {
            ranks->load(t, file, comm);
          },
          Release())
      .def(
          "save",
          [](const LoadedRanks& ranks, const TensorHandle& t, const std::string& file, int64_t comm) {
            ranks->save(t, file, comm);
          },
          Release());
}

}  // namespace distal::python
