#pragma once

#include <string>
#include <type_traits>

#include "bindings.h"

namespace distal::python {

// A parameter that no caller gives. nanobind first looks for an overload that takes the arguments as they are, and then
// for one that takes them converted. An overload with this parameter is found in the second round only, so it comes
// after all others.
struct AtLast {};

}  // namespace distal::python

template <>
struct nanobind::detail::type_caster<distal::python::AtLast> {
  NB_TYPE_CASTER(distal::python::AtLast, const_name("None"))

  bool from_python(handle, uint32_t flags, cleanup_list*) noexcept {
    return (flags & static_cast<uint32_t>(cast_flags::convert)) != 0;
  }
};

namespace distal::python {

// Adds an overload that calls `refuse` with the arguments that no other overload takes. `Self` is the object that a
// method gets, or the pointer that a constructor gets. Type checkers see that no argument fits.
template <class... Self, class Scope, class Refuse>
void add_last(Scope& scope, const std::string& name, const Refuse& refuse) {
  std::string self = sizeof...(Self) > 0 ? "self, " : "", result = name == "__init__" ? "None" : "typing.NoReturn";
  std::string signature = "def " + name + "(" + self + "*args: typing.NoReturn) -> " + result;
  auto call = [refuse](Self..., const nb::args& given, AtLast, const nb::kwargs& named) { refuse(given, named); };
  auto last = nb::arg("last").none() = nb::none();
  nb::sig types(signature.c_str());
  if constexpr (sizeof...(Self) > 0 || std::is_same_v<Scope, nb::module_>) {
    scope.def(name.c_str(), call, nb::arg("given"), last, nb::arg("named"), types);
  } else {
    scope.def_static(name.c_str(), call, nb::arg("given"), last, nb::arg("named"), types);
  }
}

// Adds an overload that raises distal.TypeMismatch for the arguments that no other overload takes. `call` is what the
// caller wrote before the arguments, and `help` shows a call that fits.
template <class... Self, class Scope>
void refuse_others(Scope& scope, const std::string& name, const std::string& call, const std::string& help) {
  add_last<Self...>(scope, name, [call, help](const nb::args& given, const nb::kwargs& named) {
    refuse_arguments(call, given, named, help);
  });
}

}  // namespace distal::python
