#pragma once

#include <nanobind/nanobind.h>

#include <string>

// The classes of distal/*.h as Python sees them in `distal._core`. The package `distal` is written in Python on top of
// them: what users call, document and type is there.
namespace distal::python {

namespace nb = nanobind;

// Raises distal.TypeMismatch.
[[noreturn]] void refuse_type(const std::string& message, const std::string& help);
// Raises it for the arguments of a call, whose types the message names. `help` shows a call that fits.
[[noreturn]] void refuse_arguments(const std::string& call, const nb::args& given, const nb::kwargs& named,
                                   const std::string& help);

// One function for each header. A class is bound before those that use it.
void bind_errors(nb::module_& m);
void bind_numbers(nb::module_& m);
void bind_machines(nb::module_& m);
void bind_formats(nb::module_& m);
void bind_statements(nb::module_& m);
void bind_schedules(nb::module_& m);
void bind_find(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_tensors(nb::module_& m);
void bind_programs(nb::module_& m);
void bind_calls(nb::module_& m);
void bind_blas(nb::module_& m);
void bind_ranks(nb::module_& m);

}  // namespace distal::python
