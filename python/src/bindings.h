#pragma once

#include <nanobind/nanobind.h>

#include <string>

// The classes of distal/*.h as Python sees them in `distal._core`. The package `distal` is written in Python on top of
// them: what users call, document and type is there.
namespace distal::python {

namespace nb = nanobind;

// Raises distal.TypeMismatch.
[[noreturn]] void refuse_type(const std::string& message, const std::string& help);
// The names of the types of arguments, for such a message.
std::string types_of(const nb::tuple& arguments);

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
