#include "tune/find_together.h"

#include "lang/parse.h"
#include "lang/validate.h"
#include "schedule/expand_precomputes.h"

namespace distal::core {

FoundProgram find_together(const ProcessGroup& group, const Module& module, const Bindings& params,
                           const FindOptions& options) {
  FoundProgram found;
  std::string text;
  group.agree([&] {
    if (!group.is_first()) return;
    found = find_what_is_left_out(module, params, options);
    validate(expand_precomputes(found.module), params);
    text = to_string(found.module);
  });
  group.broadcast(text);
  if (!group.is_first()) found.module = parse_module(text, "what was found");
  found.module.type = module.type;
  return found;
}

}  // namespace distal::core
