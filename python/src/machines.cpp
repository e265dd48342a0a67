#include <distal/machine.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "refuse.h"

namespace distal::python {

namespace {

constexpr const char* kKinds = "the kinds are Processor.CPU and Processor.GPU";

std::string text(const Grid& grid) {
  std::string out = "Grid(";
  for (const Int& e : grid.extents()) out += (out.back() == '(' ? "" : ", ") + e.to_string();
  return out + (grid.processor() == Processor::GPU ? ").of(Processor.GPU)" : ")");
}

std::string text(const Processors& processors) {
  return "Processors(" + processors.count().to_string() + ")" +
         (processors.processor() == Processor::GPU ? ".of(Processor.GPU)" : "");
}

std::string text(const Machine& machine) {
  if (!machine.has_grid() && machine.processors())
    return "Machine(Processors(" + machine.processors()->to_string() + "))";
  std::string out;
  for (const Grid& g : machine.levels()) out += (out.empty() ? "" : ", ") + text(g);
  return machine.levels().size() == 1 ? "Machine(" + out + ")" : "Machine([" + out + "])";
}

Grid grid_of(const nb::args& extents) {
  std::vector<Int> out;
  try {
    for (nb::handle e : extents) out.push_back(nb::cast<Int>(e));
  } catch (const nb::cast_error&) {
    refuse_arguments("Grid", extents, {}, "write one integer for each dimension, such as Grid(2, 2)");
  }
  return Grid(std::move(out));
}

}  // namespace

void bind_machines(nb::module_& m) {
  nb::enum_<Processor>(m, "Processor", "A kind of processor. Only the Legion engine runs programs on GPUs.")
      .value("CPU", Processor::CPU, "Threads of the host.")
      .value("GPU", Processor::GPU, "A GPU, with the Legion engine.");
  nb::enum_<Memory>(m, "Memory", "A kind of memory. Only the Legion engine uses that of GPUs.")
      .value("CPU_MEM", Memory::CPU_MEM, "Memory of the host.")
      .value("GPU_MEM", Memory::GPU_MEM, "Memory of a GPU, with the Legion engine.");
  auto grid = nb::class_<Grid>(m, "Grid", R"doc(One level of a machine: a grid of abstract processors.

One number, param or expression for each dimension.

>>> import distal
>>> distal.Grid(2, 3)
Grid(2, 3)
)doc")
                  .def(
                      "__init__", [](Grid* self, const nb::args& extents) { new (self) Grid(grid_of(extents)); },
                      nb::sig("def __init__(self, *extents: int | Int | Param) -> None"))
                  .def("of", &Grid::of, nb::arg("kind"), nb::rv_policy::none,
                       "Sets the kind of the processors: ``Grid(4).of(Processor.GPU)``.")
                  .def_prop_ro("extents", &Grid::extents, "One extent for each dimension.")
                  .def_prop_ro("processor", &Grid::processor, "The kind of the processors.")
                  .def("__repr__", [](const Grid& grid) { return text(grid); });
  refuse_others<const Grid&>(grid, "of", "of", kKinds);
  nb::class_<Machine::Level>(m, "Level", "One level of a machine, for a schedule: ``M[1]``.")
      .def_ro("machine", &Machine::Level::machine, "The whole machine.")
      .def_ro("level", &Machine::Level::level, "Which level; 0 is the outermost.");
  auto processors =
      nb::class_<Processors>(m, "Processors", "A number of processors of a machine whose grid is left out.")
          .def(
              "__init__", [](Processors* self, const Int& count) { new (self) Processors(count); }, nb::arg("count"),
              nb::sig("def __init__(self, count: int | Int | Param) -> None"))
          .def("of", &Processors::of, nb::arg("kind"), nb::rv_policy::none, "Sets the kind of the processors.")
          .def_prop_ro("count", &Processors::count, "How many there are.")
          .def_prop_ro("processor", &Processors::processor, "The kind of the processors.")
          .def("__repr__", [](const Processors& processors) { return text(processors); });
  refuse_others<Processors*>(processors, "__init__", "Processors", "write their number, such as Processors(4)");
  refuse_others<const Processors&>(processors, "of", "of", kKinds);
  auto machine =
      nb::class_<Machine>(m, "Machine",
                          R"doc(A machine: a grid whose processors may themselves be grids, outermost first.

``Machine([Grid(2), Grid(4)])`` has 2 processors that are grids of 4.

>>> import distal
>>> M = distal.Machine(distal.Grid(2, 3))
>>> M.x, M.y
(2, 3)
)doc")
          .def(nb::init<Grid, std::string>(), nb::arg("grid"), nb::arg("name") = "")
          .def(nb::init<std::vector<Grid>, std::string>(), nb::arg("levels"), nb::arg("name") = "")
          .def(nb::init<Processors, std::string>(), nb::arg("processors"), nb::arg("name") = "")
          .def("as_", nb::overload_cast<Grid>(&Machine::as), nb::arg("grid"), nb::rv_policy::none,
               "Gives a grid to processors that had none. Those outside of the grid idle.")
          .def("as_", nb::overload_cast<std::vector<Grid>>(&Machine::as), nb::arg("levels"), nb::rv_policy::none,
               "The same with several levels, outermost first.")
          .def_prop_ro("processors", &Machine::processors, "The number of ``Processors``; None: those of the grid.")
          .def_prop_ro("has_grid", &Machine::has_grid, "False: made of ``Processors`` alone.")
          .def(
              "__getitem__", [](const Machine& machine, int level) { return machine[level]; }, nb::arg("level"),
              "One level of the machine, for a schedule.")
          .def_prop_ro("levels", &Machine::levels, "The grids, outermost first.")
          .def_prop_ro("name", &Machine::name, "The name, as errors and ``Kernel.text`` show it.")
          .def_ro("x", &Machine::x, "The extent of the outermost grid's first dimension.")
          .def_ro("y", &Machine::y, "The extent of its second dimension; 1 if it has none.")
          .def_ro("z", &Machine::z, "The extent of its third dimension; 1 if it has none.")
          .def("__repr__", [](const Machine& machine) { return text(machine); });
  refuse_others<Machine*>(
      machine, "__init__", "Machine",
      "write for instance Machine(Grid(2, 2)), Machine([Grid(2), Grid(4)]) or Machine(Processors(4))");
  refuse_others<const Machine&>(machine, "as_", "as_", "write for instance M.as_(Grid(2, 2))");
  add_last<const Machine&>(machine, "__getitem__", [](const nb::args&, const nb::kwargs&) {
    refuse_type("a level of a Machine is a number", "write for instance M[1]");
  });
}

}  // namespace distal::python
