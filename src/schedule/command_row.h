#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/concrete.h"
#include "lang/command.h"
#include "schedule/schedule.h"

namespace distal::core {

// A scheduling command: how it is written, and what it does. `rewrite` checks the preconditions and returns the nest
// after the command, or throws an Error that shows the nest before it.
struct CommandRow {
  Signature signature;
  std::function<Nest(const Nest&, const ScheduleContext&, const std::vector<Argument>&)> rewrite;
  bool at_outermost_nest = false;  // also where only a nest inside a where has the loops that it names
};

// A parameter whose arguments have type T; for an optional T, one that may be left out.
template <class T>
struct ParameterOf {
  Parameter parameter;

  ParameterOf or_none() const { return with(&Parameter::may_be_empty, true); }
  ParameterOf without_braces() const { return with(&Parameter::is_braced, false); }
  ParameterOf spread() const { return with(&Parameter::may_be_spread, true); }
  ParameterOf by_notation() const { return with(&Parameter::may_be_notation, true); }
  ParameterOf<std::optional<T>> optional() const { return {parameter}; }

 private:
  ParameterOf with(bool Parameter::*property, bool value) const {
    ParameterOf out = *this;
    out.parameter.*property = value;
    return out;
  }
};

// The parameters that commands have: loops that exist, new ones, other variables, tensors, one of some words (or any
// name), a number of at least 1, what loops are distributed onto, and a part of the right side.
inline ParameterOf<IndexVar> loop() { return {{.kind = Parameter::Kind::Loop, .loops = Parameter::Loops::Named}}; }
inline ParameterOf<IndexVar> new_loop() { return {{.kind = Parameter::Kind::Loop, .loops = Parameter::Loops::Made}}; }
inline ParameterOf<std::vector<IndexVar>> loops() {
  return {{.kind = Parameter::Kind::Loops, .loops = Parameter::Loops::Named}};
}
inline ParameterOf<std::vector<IndexVar>> new_loops() {
  return {{.kind = Parameter::Kind::Loops, .loops = Parameter::Loops::Made}};
}
inline ParameterOf<std::vector<IndexVar>> other_loops() { return {{.kind = Parameter::Kind::Loops}}; }
inline ParameterOf<std::vector<Name>> names() { return {{.kind = Parameter::Kind::Names, .is_braced = false}}; }
inline ParameterOf<Name> name(std::vector<std::string> words = {}) {
  return {{.kind = Parameter::Kind::Name, .words = std::move(words)}};
}
inline ParameterOf<IntExpr> positive(std::string what) {
  return {{.kind = Parameter::Kind::Number, .what = std::move(what)}};
}
inline ParameterOf<GridRef> onto() { return {{.kind = Parameter::Kind::Onto}}; }
inline ParameterOf<Expr> part() { return {{.kind = Parameter::Kind::Part}}; }

namespace command_detail {

template <class T>
struct Get {
  static const T& from(const std::vector<Argument>& arguments, size_t i) { return std::get<T>(arguments[i]); }
};
template <class T>
struct Get<std::optional<T>> {
  static std::optional<T> from(const std::vector<Argument>& arguments, size_t i) {
    return i < arguments.size() ? std::optional<T>(std::get<T>(arguments[i])) : std::nullopt;
  }
};

template <class T>
constexpr bool is_required = true;
template <class T>
constexpr bool is_required<std::optional<T>> = false;

}  // namespace command_detail

// A row of the table of commands. The parameters stand for the arguments of `rewrite` after the first two.
template <class... T>
CommandRow command(std::string name, std::string usage,
                   Nest (*rewrite)(const Nest&, const ScheduleContext&, const T&...),
                   const std::type_identity_t<ParameterOf<T>>&... parameters) {
  using namespace command_detail;
  size_t required = (size_t{0} + ... + (is_required<T> ? 1 : 0));
  auto apply = [rewrite](const Nest& nest, const ScheduleContext& context, const std::vector<Argument>& arguments) {
    return [&]<size_t... I>(std::index_sequence<I...>) { return rewrite(nest, context, Get<T>::from(arguments, I)...); }
    (std::index_sequence_for<T...>());
  };
  return {{std::move(name), std::move(usage), {parameters.parameter...}, required}, apply};
}

}  // namespace distal::core
