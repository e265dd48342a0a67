#include "ir/marks.h"

#include <fmt/format.h>

#include <algorithm>

namespace distal::core {

namespace {

struct Words {
  const char *command, *done, *in_nest, *in_program;
};

Words words_of(LoopCode::Kind kind) {
  switch (kind) {
    case LoopCode::Kind::Parallel: return {"parallelize", "parallelized", "parallel", "parallel"};
    case LoopCode::Kind::Unroll: return {"unroll", "unrolled", "unrolled", "unroll"};
    case LoopCode::Kind::Vectorize: return {"vectorize", "vectorized", "vectorized", "vectorize"};
  }
  throw InternalError("unknown loop code");
}

// What the command says beyond the loop; empty if nothing.
std::string detail(const LoopCode& code) {
  if (code.kind == LoopCode::Kind::Unroll) return code.factor.to_string();
  return code.race == OutputRace::None ? "" : to_string(code.race);
}

IndexVar counterpart(const std::vector<IndexVar>& from, const std::vector<IndexVar>& to, const IndexVar& v) {
  auto at = std::find(from.begin(), from.end(), v);
  return at == from.end() ? v : to[static_cast<size_t>(at - from.begin())];
}

}  // namespace

std::string to_string(OutputRace race) {
  switch (race) {
    case OutputRace::None: return "none";
    case OutputRace::Reduction: return "reduction";
    case OutputRace::Atomics: return "atomics";
  }
  throw InternalError("unknown race");
}

std::string LoopCode::command() const { return words_of(kind).command; }
std::string LoopCode::done() const { return words_of(kind).done; }
std::string LoopCode::in_nest() const { return words_of(kind).in_nest; }
std::string LoopCode::in_program(const std::string& loop) const {
  std::string more = detail(*this);
  if (!more.empty()) more = (kind == Kind::Parallel ? " by " : " ") + more;
  return fmt::format("{} {}{}", words_of(kind).in_program, loop, more);
}

std::string DistributeRelation::text() const {
  std::string onto = level ? fmt::format(", level {}", *level) : "";
  if (dimension) onto += fmt::format(" dimension {}", *dimension);
  return fmt::format("distribute({}{})", variable.name, onto);
}
std::string DistributeRelation::obstacle(const IndexVar& v) const { return v == variable ? "is distributed" : ""; }

std::string HoldRelation::text() const {
  return fmt::format("hold(level {} dimension {} at {})", level, dimension, face.to_string());
}

std::string EverywhereRelation::text() const {
  return fmt::format("everywhere(level {} dimension {})", level, dimension);
}

std::string CommunicateRelation::text() const { return fmt::format("communicate({}, {})", tensor.text, at.name); }
std::string CommunicateRelation::obstacle(const IndexVar& v) const {
  return v == at ? fmt::format("is where {} is communicated", tensor.text) : "";
}

std::string SubstituteRelation::text() const {
  return fmt::format("substitute({}, {})", to_string(variables), kernel.text);
}
std::string SubstituteRelation::obstacle(const IndexVar& v) const {
  bool in = std::find(variables.begin(), variables.end(), v) != variables.end();
  return in ? fmt::format("is part of the substituted {}", kernel.text) : "";
}

std::string MarkRelation::text() const {
  std::string more = detail(code);
  return fmt::format("{}({}{})", code.command(), variable.name, more.empty() ? "" : ", " + more);
}
std::string MarkRelation::obstacle(const IndexVar& v) const { return v == variable ? "is " + code.done() : ""; }

std::string PrecomputeRelation::text() const {
  return fmt::format("precompute({}, {}, {})", workspace.text, to_string(originals), to_string(copies));
}
IndexVar PrecomputeRelation::copy_of(const IndexVar& v) const { return counterpart(originals, copies, v); }
IndexVar PrecomputeRelation::original_of(const IndexVar& v) const { return counterpart(copies, originals, v); }

}  // namespace distal::core
