#include <fmt/format.h>

#include "lang/check.h"
#include "lang/check_parts.h"

namespace distal::core {

namespace {

// A notation maps loops to one level: refuses a machine of several levels, and a level that it does not have.
[[noreturn]] void refuse_level(const Machine& machine, const SourceSpan& span) {
  size_t levels = machine.levels.size();
  throw Error(
      fmt::format("{} has {} level{}, and a notation speaks of one", machine.name, levels, levels == 1 ? "" : "s"),
      span, fmt::format("name one of {0}[0] to {0}[{1}]", machine.name, levels - 1));
}

class CommandCheck {
 public:
  CommandCheck(const Command& command, const Module& scope) : command_(command), scope_(scope) {}

  void run() const {
    const Signature& signature = signature_of(command_);
    for (size_t i = 0; i < command_.arguments.size(); ++i) {
      const Argument& argument = command_.arguments[i];
      require_fit(signature, signature.parameters[i], argument, command_.span);
      std::visit([&](const auto& value) { check(value); }, argument);
    }
  }

 private:
  void check(const IndexVar& v) const { check_name(v.name, "a loop", v.span); }
  void check(const Name& name) const { check_name(name.text, "a workspace", name.span); }
  template <class Named>
  void check(const std::vector<Named>& all) const {
    for (const Named& named : all) check(named);
  }
  void check(const IntExpr& number) const { check_int(number, scope_, command_.span); }
  void check(const Expr& part) const { check_expression(part, scope_, command_.span, true); }

  void check(const GridRef& onto) const {
    if (onto.grid) check_grid(*onto.grid, scope_);
    if (!onto.notation) return;
    size_t targets = std::get<std::vector<IndexVar>>(command_.arguments[0]).size();
    check_level(*onto.notation, {"the iteration space", targets}, machine_of_notation(onto, scope_), 0, scope_);
  }

  const Command& command_;
  const Module& scope_;
};

}  // namespace

Machine machine_of_notation(const GridRef& ref, const Module& scope) {
  if (ref.grid) return Machine{"", {*ref.grid}, ref.span};
  const Machine* machine = scope.find_machine(ref.name.text);
  const Tensor* tensor = scope.find_tensor(ref.name.text);
  if (!machine && tensor && tensor->machine) machine = &*tensor->machine;  // the machine that the tensor is on
  if (!machine) {
    throw Error(fmt::format("unknown machine `{}`", ref.name.text), ref.span,
                "a notation ends with `on` and a machine, a level of it or a grid");
  }
  if (!ref.level && machine->levels.size() == 1) return *machine;
  if (!ref.level || *ref.level >= static_cast<int>(machine->levels.size())) refuse_level(*machine, ref.span);
  return Machine{machine->name, {machine->levels[static_cast<size_t>(*ref.level)]}, ref.span};
}

void check_command(const Command& command, const Module& scope) { CommandCheck(command, scope).run(); }

}  // namespace distal::core
