#include "engine/legion/program.h"

namespace distal::core {

std::shared_ptr<const Program> legion_program(const Module& module) {
  return compile(module, {}, DefaultCommunicate::Outermost);
}

Plan legion_plan(std::shared_ptr<const Program> program, const Bindings& params) {
  return make_plan(std::move(program), params, {.fold = false});
}

}  // namespace distal::core
