#include "engine/legion/program.h"

namespace distal::core {

std::shared_ptr<const Program> legion_program(const Module& module) {
  return compile(module, {}, DefaultCommunicate::Outermost);
}

}  // namespace distal::core
