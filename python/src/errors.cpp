#include <distal/progress.h>
#include <nanobind/stl/string.h>

#include <exception>

#include "bindings.h"

namespace distal::python {

namespace {

// The class is written in Python: it is a ValueError too, and knows the caller's line.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const SourceSpan& span = error.span();
    bool interrupted = dynamic_cast<const Interrupted*>(&error) != nullptr;
    const char* kind = interrupted                          ? "Interrupted"
                       : error.kind() == Error::Kind::Input ? "InputError"
                                                            : "ResourceError";
    try {
      nb::object made =
          nb::module_::import_("distal._errors")
              .attr("from_core")(error.message(), error.help(), kind, span.source ? span.source->name : std::string());
      PyErr_SetObject(made.type().ptr(), made.ptr());
    } catch (nb::python_error& raised) {
      raised.restore();  // Ctrl-C, for instance, which may have ended the compiler that the error is about
    }
  }
}

std::string type_of(nb::handle argument) {
  int overflow = 0;
  if (PyLong_Check(argument.ptr())) PyLong_AsLongLongAndOverflow(argument.ptr(), &overflow);
  return nb::cast<std::string>(argument.type().attr("__name__")) + (overflow == 0 ? "" : " beyond 64 bits");
}

}  // namespace

void refuse_type(const std::string& message, const std::string& help) {
  nb::object made = nb::module_::import_("distal._errors").attr("TypeMismatch")(message, help);
  PyErr_SetObject(made.type().ptr(), made.ptr());
  throw nb::python_error();
}

void refuse_arguments(const std::string& call, const nb::args& given, const nb::kwargs& named,
                      const std::string& help) {
  std::string types;
  auto add = [&](const std::string& name, nb::handle argument) {
    types += (types.empty() ? "" : ", ") + name + type_of(argument);
  };
  for (nb::handle argument : given) add("", argument);
  for (auto [name, argument] : named) add(nb::cast<std::string>(name) + "=", argument);
  refuse_type(call + "(" + types + "): these arguments do not fit", help);
}

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace distal::python
