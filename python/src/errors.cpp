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

}  // namespace

void refuse_type(const std::string& message, const std::string& help) {
  nb::object made = nb::module_::import_("distal._errors").attr("TypeMismatch")(message, help);
  PyErr_SetObject(made.type().ptr(), made.ptr());
  throw nb::python_error();
}

std::string types_of(const nb::tuple& arguments) {
  std::string out;
  for (nb::handle a : arguments) out += (out.empty() ? "" : ", ") + nb::cast<std::string>(a.type().attr("__name__"));
  return out;
}

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace distal::python
