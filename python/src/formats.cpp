#include <distal/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "bindings.h"
#include "refuse.h"

namespace distal::python {

void bind_formats(nb::module_& m) {
  nb::class_<Face>(m, "Face", "The one coordinate of a machine dimension at which a tensor lives, counted from 0.")
      .def(nb::init<Int>(), nb::arg("at"), nb::sig("def __init__(self, at: int | Int | Param) -> None"))
      .def_ro("at", &Face::at, "The coordinate.");
  nb::class_<Everywhere>(m, "Everywhere", "A copy of the tensor at every coordinate of a machine dimension.")
      .def(nb::init<>());
  nb::class_<Role>(m, "Role", R"doc(What a machine dimension does with a tensor.

An int cuts that dimension of the tensor, a ``Face`` fixes the tensor to a face, ``Everywhere()`` broadcasts it. Where
a role is asked for, any of the three will do.)doc")
      .def(nb::init<int>(), nb::arg("tensor_dimension"))
      .def(nb::init<Face>(), nb::arg("face"))
      .def(nb::init<Everywhere>(), nb::arg("everywhere"))
      .def_prop_ro(
          "role", [](const Role& role) { return std::visit([](auto r) { return nb::cast(r); }, role.role()); },
          "The int, ``Face`` or ``Everywhere``.");
  nb::implicitly_convertible<int, Role>();
  nb::implicitly_convertible<Face, Role>();
  nb::implicitly_convertible<Everywhere, Role>();

  auto distribution =
      nb::class_<Distribution>(m, "Distribution",
                               R"doc(Where the pieces of a tensor live: one role for each machine dimension.

>>> import distal
>>> M = distal.Machine(distal.Grid(2, 2))
>>> tiles = distal.Distribution(M, [0, 1])                  # cuts rows and columns
>>> rows = distal.Distribution(M, [0, distal.Everywhere()])  # cuts rows, in two copies
)doc")
          .def(nb::init<Machine, std::vector<Role>, Memory>(), nb::arg("machine"), nb::arg("roles"),
               nb::arg("memory") = Memory::CPU_MEM,
               nb::sig("def __init__(self, machine: Machine, roles: Sequence[int | Face | Everywhere | Role], memory: "
                       "Memory = ...) -> None"))
          .def_static("hierarchical", &Distribution::hierarchical, nb::arg("machine"), nb::arg("levels"),
                      nb::arg("memory") = Memory::CPU_MEM,
                      "For a machine of several levels: one list of roles per level.",
                      nb::sig("def hierarchical(machine: Machine, levels: Sequence[Sequence[int | Face | Everywhere | "
                              "Role]], memory: Memory = ...) -> Distribution"))
          .def("cyclic", &Distribution::cyclic, nb::arg("tensor_dimension"), nb::arg("block") = Int(1),
               nb::arg("level") = 0, nb::rv_policy::none,
               "Makes one tensor dimension block-cyclic at one machine level.",
               nb::sig("def cyclic(self, tensor_dimension: int, block: int | Int | Param = 1, level: int = 0) -> "
                       "Distribution"))
          .def_prop_ro("machine", &Distribution::machine, "The machine that has the pieces.")
          .def_prop_ro("levels", &Distribution::levels, "The roles, one list for each level.")
          .def_prop_ro(
              "cyclic_dimensions",
              [](const Distribution& d) {
                std::vector<std::tuple<int, Int, int>> out;
                for (const Distribution::Cyclic& c : d.cyclic_dimensions()) {
                  out.emplace_back(c.tensor_dimension, c.block, c.level);
                }
                return out;
              },
              "The arguments of the calls of ``cyclic``.")
          .def_prop_ro("memory", &Distribution::memory, "The memory that has the pieces.");
  refuse_others<Distribution*>(distribution, "__init__", "Distribution",
                               "write for instance Distribution(M, [0, Everywhere()]): a role for each dimension of M");

  nb::enum_<ModeFormat>(m, "ModeFormat", "How one dimension of a tensor is stored.")
      .value("Dense", ModeFormat::Dense, "Every coordinate is stored.");
  auto format =
      nb::class_<Format>(m, "Format", R"doc(How a tensor is stored.

The format of each dimension, the storage order of the dimensions within a piece (outermost first), and the
distribution. A string as in a .distal file does as well: ``Format.parse("xy -> xy", 2, M)``.)doc")
          .def(nb::init<>())
          .def(nb::init<std::vector<ModeFormat>, Distribution>(), nb::arg("modes"), nb::arg("distribution"))
          .def(nb::init<std::vector<ModeFormat>, std::vector<int>, Distribution>(), nb::arg("modes"), nb::arg("order"),
               nb::arg("distribution"))
          .def(nb::init<std::vector<ModeFormat>, std::vector<int>>(), nb::arg("modes"), nb::arg("order"))
          .def(nb::init<Machine>(), nb::arg("machine"))
          .def_prop_ro("machine", &Format::machine, "The machine of a format without a distribution.")
          .def_static("parse", &Format::parse, nb::arg("text"), nb::arg("dimensions"), nb::arg("machine") = nb::none(),
                      nb::arg("params") = std::vector<Param>(),
                      R"doc(The format that a text describes, as in a .distal file.

>>> import distal
>>> M = distal.Machine(distal.Grid(2, 2))
>>> distal.Format.parse("xy -> yx cyclic(x = 2) order(1, 0)", 2, M).order
[1, 0]
)doc")
          .def_prop_ro("order", &Format::order, "The storage order, outermost first; empty: row-major.")
          .def_prop_ro("distribution", &Format::distribution, "The distribution; None: on the first processor.");
  refuse_others<Format*>(
      format, "__init__", "Format",
      "write for instance Format.parse(\"xy -> xy\", 2, M), or Format([Dense, Dense], distribution)");
  refuse_others<>(format, "parse", "Format.parse", "write for instance Format.parse(\"xy -> xy\", 2, M)");
}

}  // namespace distal::python
