#include <distal/schedule.h>
#include <distal/tensor.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "refuse.h"

namespace distal::python {

void bind_schedules(nb::module_& m) {
  using Loops = std::vector<IndexVar>;
  using Tensors = std::vector<TensorHandle>;
  auto kernel_name =
      nb::class_<LeafKernelName>(m, "LeafKernelName", "The name of a kernel that can replace the innermost loops.")
          .def("__init__", [](LeafKernelName* self, std::string name) { new (self) LeafKernelName{std::move(name)}; })
          .def_ro("name", &LeafKernelName::name, "The name, as in a .distal file.");
  refuse_others<LeafKernelName*>(kernel_name, "__init__", "LeafKernelName",
                                 "write for instance LeafKernelName(\"gemm\")");
  nb::enum_<OutputRace>(m, "OutputRace", "How the threads of a parallel loop add to the same element of the output.")
      .value("NONE", OutputRace::None, "They never do: the loop indexes the output.")
      .value("Reduction", OutputRace::Reduction, "Each thread has a private sum; the sums are added at the end.")
      .value("Atomics", OutputRace::Atomics, "Every addition is atomic.");
  nb::class_<Onto>(m, "Onto")
      .def(nb::init<const Machine&>())
      .def(nb::init<const Machine::Level&>())
      .def(nb::init<const Grid&>())
      .def(nb::init<const TensorHandle&>())
      .def(nb::init<const TensorHandle&, int>())
      .def(nb::init<const Onto&, std::vector<Role>>())
      .def("cyclic", &Onto::cyclic, nb::rv_policy::none);
  // The class Schedule of the package checks and documents these.
  nb::class_<Schedule>(m, "Schedule")
      .def("split", [](Schedule& s, const IndexVar& a, const IndexVar& b, const IndexVar& c,
                       const Int& n) { s.split(a, b, c, n); })
      .def("divide", [](Schedule& s, const IndexVar& a, const IndexVar& b, const IndexVar& c,
                        const Int& n) { s.divide(a, b, c, n); })
      .def("collapse",
           [](Schedule& s, const IndexVar& a, const IndexVar& b, const IndexVar& c) { s.collapse(a, b, c); })
      .def("reorder", [](Schedule& s, const Loops& order) { s.reorder(order); })
      .def("rotate", [](Schedule& s, const IndexVar& target, const Loops& by,
                        const IndexVar& result) { s.rotate(target, by, result); })
      .def("distribute", [](Schedule& s, const Loops& loops) { s.distribute(loops); })
      .def("distribute", [](Schedule& s, const Loops& loops, const Onto& onto) { s.distribute(loops, onto); })
      .def("distribute", [](Schedule& s, const Loops& targets, const Loops& distributed, const Loops& local,
                            const Onto& onto) { s.distribute(targets, distributed, local, onto); })
      .def("communicate", [](Schedule& s, const Tensors& tensors, const IndexVar& at) { s.communicate(tensors, at); })
      .def("substitute",
           [](Schedule& s, const Loops& loops, const LeafKernelName& kernel) { s.substitute(loops, kernel); })
      .def("parallelize", [](Schedule& s, const IndexVar& loop, OutputRace race) { s.parallelize(loop, race); })
      .def("unroll", [](Schedule& s, const IndexVar& loop, const Int& factor) { s.unroll(loop, factor); })
      .def("vectorize", [](Schedule& s, const IndexVar& loop) { s.vectorize(loop); })
      .def("precompute", [](Schedule& s, const Expr& part, const Loops& loops, const Loops& copies,
                            const std::string& workspace) { s.precompute(part, loops, copies, workspace); })
      .def("precompute", [](Schedule& s, const Expr& part, const Loops& loops, const Loops& copies,
                            const TensorHandle& workspace) { s.precompute(part, loops, copies, workspace); });
}

}  // namespace distal::python
