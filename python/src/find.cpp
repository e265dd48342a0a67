#include <distal/find.h>
#include <distal/progress.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "bindings.h"
#include "refuse.h"

namespace distal::python {

void bind_find(nb::module_& m) {
  nb::enum_<Goal>(m, "Goal", "What a schedule, a grid and formats that are found are the best for.")
      .value("Time", Goal::Time, "The least time by the model of an engine.")
      .value("Bytes", Goal::Bytes, "The least that the busiest processor exchanges, then the least that all move.");
  auto options =
      nb::class_<FindOptions>(m, "FindOptions", R"doc(How to find what a program leaves out.

That is the schedule of a statement whose ``schedule()`` was never called, the grid of a machine of ``Processors``, and
the format of a tensor that has a machine only.

>>> import distal
>>> distal.FindOptions(goal=distal.Goal.Bytes, memory_bytes=10**9).engine
'threads'
)doc")
          .def(
              "__init__",
              [](FindOptions* self, Goal goal, std::optional<int64_t> memory_bytes, std::string engine,
                 std::string model, Progress* progress) {
                new (self) FindOptions{goal, memory_bytes, std::move(engine), std::move(model), progress};
              },
              nb::kw_only(), nb::arg("goal") = Goal::Time, nb::arg("memory_bytes") = nb::none(),
              nb::arg("engine") = "threads", nb::arg("model") = "", nb::arg("progress") = nb::none(),
              nb::keep_alive<1, 6>())
          .def_rw("goal", &FindOptions::goal, "What to find the best for.")
          .def_rw("memory_bytes", &FindOptions::memory_bytes, "That a processor may need at most; None: any number.",
                  nb::for_setter(nb::arg("memory_bytes").none()))
          .def_rw("engine", &FindOptions::engine, "Whose model says what takes how long: threads, mpi or legion.")
          .def_rw("model", &FindOptions::model, "A file with another model; empty: the engine's.")
          .def_prop_rw(
              "progress", [](const FindOptions& options) { return options.progress; },
              [](FindOptions& options, Progress* progress) { options.progress = progress; },
              nb::for_getter(nb::rv_policy::reference), nb::for_setter(nb::keep_alive<1, 2>()),
              nb::for_setter(nb::arg("progress").none()), "Counts the candidates, and can end the search.");
  refuse_others<FindOptions*>(options, "__init__", "FindOptions",
                              "write for instance FindOptions(goal=Goal.Bytes, memory_bytes=10**9)");
}

}  // namespace distal::python
