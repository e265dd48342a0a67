#include <distal/kernel.h>
#include <distal/picture.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "interrupt.h"
#include "refuse.h"

namespace distal::python {

void bind_kernels(nb::module_& m) {
  nb::class_<Cost::PerTensor>(m, "CostPerTensor", "What a kernel moves of one tensor.")
      .def_ro("bytes", &Cost::PerTensor::bytes, "Bytes moved between processors.")
      .def_ro("messages", &Cost::PerTensor::messages, "The number of messages that carry these bytes.")
      .def_ro("pattern", &Cost::PerTensor::pattern, "none, broadcast, shift, gather, reduce or mixed.");
  nb::class_<Cost>(m, "Cost", "What a kernel moves and holds, counted from its plan.")
      .def_ro("processors", &Cost::processors, "Of the largest machine.")
      .def_ro("processors_with_work", &Cost::processors_with_work, "Those that have iterations in some statement.")
      .def_ro("flops", &Cost::flops, "Of the statements as written; the leaf may do fewer or more.")
      .def_ro("bytes_moved", &Cost::bytes_moved, "Bytes between processors.")
      .def_ro("bytes_by_level", &Cost::bytes_by_level,
              "``bytes_moved`` split by the outermost machine level that is crossed.")
      .def_ro("messages", &Cost::messages, "The number of messages that carry ``bytes_moved``.")
      .def_ro("max_bytes_received", &Cost::max_bytes_received, "By the processor that receives most.")
      .def_ro("max_bytes_sent", &Cost::max_bytes_sent, "By the processor that sends most.")
      .def_ro("peak_bytes_per_processor", &Cost::peak_bytes_per_processor,
              "An upper bound, for processors that share no memory.")
      .def_ro("tensors", &Cost::tensors, "What is moved of each tensor, by its name.")
      .def("__repr__", [](const Cost& cost) {
        return "Cost(processors=" + std::to_string(cost.processors) +
               ", bytes_moved=" + std::to_string(cost.bytes_moved) + ", messages=" + std::to_string(cost.messages) +
               ", peak_bytes_per_processor=" + std::to_string(cost.peak_bytes_per_processor) + ")";
      });
  nb::class_<Certificate>(m, "Certificate",
                          "How far a statement is from the least communication; docs/certificate.md explains it.")
      .def_ro("statement", &Certificate::statement, "The statement, as in ``Kernel.text``.")
      .def_ro("processors", &Certificate::processors, "The processors that may share the work.")
      .def_ro("exchanged_bytes", &Certificate::exchanged_bytes, "By the processor that exchanges most.")
      .def_ro("busiest", &Certificate::busiest, "The name of that processor.")
      .def_ro("lower_bound_bytes", &Certificate::lower_bound_bytes,
              "What some processor exchanges under every schedule.")
      .def_ro("optimality", &Certificate::optimality,
              "``exchanged_bytes`` / ``lower_bound_bytes``; None if the bound is 0.")
      .def_ro("bound", &Certificate::bound, "The proof of the bound, in lines.");
  nb::class_<RunReport>(m, "RunReport", "What a run did, counted where the transfers happen.")
      .def_ro("seconds", &RunReport::seconds, "Of the run alone, without planning and compiling.")
      .def_ro("bytes_moved", &RunReport::bytes_moved, "Bytes between processors; equals that of ``Cost``.")
      .def_ro("bytes_copied", &RunReport::bytes_copied, "Bytes physically copied; 0 if all processors share memory.")
      .def_ro("messages", &RunReport::messages, "Equals that of ``Cost``.")
      .def_ro("peak_bytes_per_processor", &RunReport::peak_bytes_per_processor,
              "The most bytes that one processor held in pieces, copies and workspaces.")
      .def_ro("resident_bytes", &RunReport::resident_bytes, "The peak resident memory of the process.")
      .def("__repr__", [](const RunReport& report) {
        return "RunReport(seconds=" + std::to_string(report.seconds) +
               ", bytes_moved=" + std::to_string(report.bytes_moved) +
               ", bytes_copied=" + std::to_string(report.bytes_copied) +
               ", messages=" + std::to_string(report.messages) + ")";
      });
  nb::class_<Progress::State>(m, "ProgressState", "What a job does now.")
      .def_ro("what", &Progress::State::what, "For instance ``running 2 of 3``; empty: nothing.")
      .def_ro("done", &Progress::State::done, "The number of parts that are done.")
      .def_ro("total", &Progress::State::total, "The number of all parts; 0: unknown.")
      .def_ro("seconds", &Progress::State::seconds, "Since this began.");
  nb::class_<Progress>(m, "Progress",
                       R"doc(How far a run or a search is, and whether it shall end.

``Kernel.run(progress=...)`` reports to it how many leaves were computed, and a search with
``FindOptions(progress=...)`` how many candidates it looked at. Another Python thread may read it, or cancel the job,
which then raises ``Interrupted``.

>>> import distal
>>> i, = distal.indices("i")
>>> a, b = distal.Tensor("a", 3), distal.Tensor("b", 3)
>>> a[i] = b[i]
>>> progress = distal.Progress()
>>> progress.cancel()
>>> try:
...     a.compile().run(progress=progress)
... except distal.Interrupted as error:
...     print(error.message)
interrupted
)doc")
      .def(nb::init<>())
      .def("state", &Progress::state, "What the job does now.")
      .def("cancel", &Progress::cancel, "Asks the job to end before its next part; a leaf that runs is finished first.")
      .def("is_cancelled", &Progress::is_cancelled, "Whether ``cancel`` was called.")
      .def("begin", &Progress::begin, nb::arg("what"), nb::arg("total") = 0, "The job begins with something else.")
      .def("advance", &Progress::advance, nb::arg("parts") = 1, "As many further parts are done.")
      .def("require_wanted", &Progress::require_wanted, "Raises ``Interrupted`` if the job was cancelled.");
  auto options =
      nb::class_<RunOptions>(m, "RunOptions", "How to run. Options change only the last bits of a result.")
          .def(
              "__init__",
              [](RunOptions* self, int threads, bool own_memory, bool strict_order, Progress* progress) {
                new (self) RunOptions{threads, own_memory, strict_order, progress};
              },
              nb::kw_only(), nb::arg("threads") = 0, nb::arg("own_memory") = false, nb::arg("strict_order") = false,
              nb::arg("progress") = nb::none(), nb::keep_alive<1, 5>())
          .def_rw("threads", &RunOptions::threads, "1 to 4096, or 0 for one per core.")
          .def_rw("own_memory", &RunOptions::own_memory,
                  "Gives every processor memory of its own: every acquire copies.")
          .def_rw("strict_order", &RunOptions::strict_order, "Adds sums in the order of the schedule's loops.")
          .def_prop_rw(
              "progress", [](const RunOptions& options) { return options.progress; },
              [](RunOptions& options, Progress* progress) { options.progress = progress; },
              nb::for_getter(nb::rv_policy::reference), nb::for_setter(nb::keep_alive<1, 2>()),
              nb::for_setter(nb::arg("progress").none()), "Is told how far the run is, and can end it.");
  refuse_others<RunOptions*>(options, "__init__", "RunOptions",
                             "write for instance RunOptions(threads=2, own_memory=True)");
  // Searches, compilers and runs take long: other Python threads go on meanwhile.
  nb::class_<Kernel>(m, "Kernel")
      .def(
          "__init__",
          [](Kernel* self, const std::vector<TensorHandle>& defined, const FindOptions& find) {
            auto compile = [&](const FindOptions& used) { return Kernel(defined, used); };
            new (self) Kernel(until_interrupted(find, compile));
          },
          nb::arg("defined"), nb::arg("find") = FindOptions())
      .def("run",
           [](const Kernel& kernel, const RunOptions& options) {
             return until_interrupted(options, [&](const RunOptions& used) { return kernel.run(used); });
           })
      .def("text", &Kernel::text)
      .def("program", &Kernel::program)
      .def("plan", &Kernel::plan, nb::call_guard<nb::gil_scoped_release>())
      .def("certificates", &Kernel::certificates, nb::call_guard<nb::gil_scoped_release>())
      .def("cost", &Kernel::cost, nb::call_guard<nb::gil_scoped_release>())
      .def("page", &Kernel::page, nb::call_guard<nb::gil_scoped_release>())
      .def("picture", &Kernel::picture, nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "svg",
      [](const std::string& picture, const std::string& view, int64_t step, int64_t processor,
         const std::vector<std::string>& axes) {
        return svg(picture, {view, step, processor, axes});
      },
      nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace distal::python
