#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/module.h"
#include "tune/search.h"

namespace distal::core {

struct FindOptions {
  Goal goal = Goal::Time;
  std::optional<int64_t> memory_bytes;  // no processor may need more
  MachineModel model;                   // of an engine (model_of_engine), or from a file (read_model)
  Progress* progress = nullptr;         // counts the candidates, and can end the search; not owned
};

// What was found for one statement.
struct FoundStatement {
  Statement statement;
  StatementShape shape;
  SearchResult result;
};

// A program in which nothing is left out.
struct FoundProgram {
  Module module;
  std::vector<FoundStatement> statements;  // those for which something was found
  std::vector<std::string> left;           // for each of the others that leaves something out, why it stays as it is
};

// Whether a statement of the program has no schedule. The word `schedule` without a command is a schedule.
bool has_no_schedule(const ScheduledStatement& scheduled);
// Whether there is anything to find: a schedule, or formats for a given schedule. If not, find_what_is_left_out would
// return the module as it is.
bool leaves_something_out(const Module& module);

// Finds what the program leaves out, statement by statement in their order: the schedule of each statement that has
// none, the grid of its machine, and the formats of its tensors; formats also where the schedule is given. Grids and
// formats are given from then on. What is given is never changed. All front ends call this function, before they
// compile the module. What it finds depends on nothing but its arguments. Throws an Error of Kind::Resources if a
// processor needs more memory than it may have, and Interrupted if `options.progress` was cancelled.
FoundProgram find_what_is_left_out(const Module& module, const Bindings& params, const FindOptions& options);

}  // namespace distal::core
