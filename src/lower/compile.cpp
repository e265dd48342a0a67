#include "lower/compile.h"

#include "lower/lower.h"
#include "lower/place.h"
#include "schedule/expand_precomputes.h"
#include "schedule/expand_updates.h"
#include "schedule/schedule.h"

namespace distal::core {

std::shared_ptr<const Program> compile(const Module& module, const Dump& dump) {
  auto show = [&](const char* pass, const std::string& text) {
    if (dump) dump(pass, text);
  };
  auto program = std::make_shared<Program>();
  program->module = expand_precomputes(expand_updates(module));
  show("module", to_string(module));

  // Where the data lives: a statement per tensor, by the five steps of the paper.
  for (const Tensor& tensor : module.tensors) show("placement", to_string(placement_of(tensor)) + "\n");

  for (const ScheduledStatement& statement : program->module.statements) {
    // Where and when the work happens: the schedule rewrites the nest, command by command.
    ScheduleTrace trace = apply_schedule(program->module, statement);
    for (const Stmt& stage : trace.stages) show("schedule", to_string(stage) + "\n");

    // What each processor needs for that: launches, acquires and the leaf, with their bounds.
    program->stages.push_back(lower_statement(program->module, statement, trace.result()));
    show("program", to_string(program->stages.back()));
  }
  return program;
}

}  // namespace distal::core
