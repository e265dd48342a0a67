#pragma once

#include <optional>
#include <string>
#include <vector>

#include "distal/progress.h"
#include "support/error.h"
#include "tune/fit_memory.h"
#include "tune/machine_model.h"

namespace distal::core {

enum class Goal {
  Time,   // the least time by the model
  Bytes,  // the least that the busiest processor exchanges, then the least that is moved
};

struct SearchOptions {
  int64_t processors = 1;
  Goal goal = Goal::Time;
  std::optional<int64_t> memory_bytes;  // no processor may need more
  MachineModel model;
  // A given machine: its dimensions with their levels, without indices. Empty: the grid is found.
  std::vector<GridLevel> given_grid;
  Progress* progress = nullptr;  // counts the candidates, and can end the search; not owned
};

// A candidate with what it costs.
struct Found {
  Candidate candidate;
  CandidateCost cost;
  double seconds = 0;  // by the model
};

// What was not chosen, and why.
struct Alternative {
  Found found;
  std::string reason;
};

struct SearchResult {
  Found best;
  std::vector<Alternative> alternatives;  // the best first
  int64_t considered = 0;                 // candidates whose cost was counted
  // Whether it is proved that no other candidate of the space is better.
  bool is_least = true;
};

// Nothing fits into the memory that a processor may have.
class DoesNotFit : public Error {
 public:
  DoesNotFit(int64_t least_bytes, int64_t memory_bytes);
  int64_t least_bytes() const { return least_bytes_; }  // that a processor needs

 private:
  int64_t least_bytes_;
};

// The time of a candidate by the model.
double modelled_seconds(const StatementShape& shape, const Candidate& candidate, const CandidateCost& cost,
                        const MachineModel& model);

// Counts the candidate that is looked at next. Throws Interrupted if the search was cancelled. Without a progress it
// does nothing.
void begin_candidate(Progress* progress);

// Finds the best candidate for a statement. It searches all grids that leave at most a tenth of the processors idle;
// processors for which a small statement has no work do not count as idle. Grids that leave more idle are searched only
// if no other fits into the memory. If a format is given, all orders of a grid's levels are tried. If the grid is
// given, the indices that its dimensions can cut are searched. What it finds depends on nothing but its arguments.
// Throws DoesNotFit, and Interrupted if the progress was cancelled.
SearchResult search(const StatementShape& shape, const SearchOptions& options);

}  // namespace distal::core
