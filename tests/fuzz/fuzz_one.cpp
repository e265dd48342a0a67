#include "fuzz/fuzz_one.h"

#include <algorithm>
#include <variant>

#include "lang/parse.h"
#include "lang/validate.h"
#include "lower/compile.h"
#include "plan/plan.h"
#include "plan/print.h"
#include "property/check.h"

namespace distal::core::fuzz {

namespace {

// Limits that keep one input to a few milliseconds, as a fuzzer needs many inputs. Only params are clamped: large sizes
// in the text itself are still parsed, validated and compiled, but not planned.
constexpr size_t kMaxText = 4096;
constexpr int64_t kMaxParam = 5;
constexpr int64_t kMaxProcessors = 12;
constexpr int64_t kMaxElements = 200;
constexpr double kMaxPoints = 800;
constexpr size_t kMaxStatements = 4;

void clamp_params(Module& module) {
  Bindings values = distal::core::bind(module, {});
  for (Param& p : module.params) {
    if (values.at(p.name) > kMaxParam) p.value = IntExpr(kMaxParam);
  }
}

int64_t product(const std::vector<IntExpr>& factors, const Bindings& params) {
  int64_t out = 1;
  for (const IntExpr& f : factors) out *= std::min(f.evaluate(params), kMaxElements + 1);
  return out;
}

int64_t processors_of(const std::vector<Grid>& levels, const Bindings& params) {
  int64_t out = 1;
  for (const Grid& g : levels) out = std::min(out * std::min(product(g.extents, params), kMaxElements), kMaxElements);
  return out;
}

bool is_small(const Grid& grid, const Bindings& params) { return processors_of({grid}, params) <= kMaxProcessors; }

bool is_small(const Command& command, const Bindings& params) {
  const GridRef* onto = onto_of(command);
  return onto == nullptr || !onto->grid || is_small(*onto->grid, params);
}

// Whether the module is small enough to be planned. The module must be valid.
bool is_small(const Module& module, const Bindings& params) {
  if (module.statements.size() > kMaxStatements) return false;
  for (const Machine& m : module.machines) {
    if (processors_of(m.levels, params) > kMaxProcessors) return false;
  }
  for (const Tensor& t : module.tensors) {
    if (product(t.dimensions, params) > kMaxElements) return false;
    if (t.machine && processors_of(t.machine->levels, params) > kMaxProcessors) return false;
  }
  for (const ScheduledStatement& s : module.statements) {
    for (const Command& c : s.schedule) {
      if (!is_small(c, params)) return false;
    }
  }
  return true;
}

// The number of points in the loops of a stage, including those past the end of a tile: a divide into 1,000 parts makes
// a loop of 1,000 iterations.
double points_of(const Stage& stage, const Bindings& params) {
  IterationSpace<int64_t> space = evaluate(stage.space, params);
  std::vector<bool> is_recovered = recovered_variables(space.derivations, space.size());
  double out = 1;
  for (size_t v = 0; v < is_recovered.size(); ++v) {
    if (!is_recovered[v]) out *= static_cast<double>(space.extents[v]);
  }
  return out;
}

bool is_small(const Program& program, const Bindings& params) {
  return std::all_of(program.stages.begin(), program.stages.end(),
                     [&](const Stage& s) { return points_of(s, params) <= kMaxPoints; });
}

std::string checked(const std::string& text) {
  property::CheckOptions options;
  options.one_mode = true;
  property::Outcome outcome = property::check_program(text, options);
  if (outcome.kind != property::Outcome::Kind::Failed) return "";
  return outcome.signature + ": " + outcome.detail;
}

std::string follow(const std::string& text) {
  Module module = parse_module(text, "input");
  if (!(parse_module(to_string(module), "printed") == module)) return "printed module differs:\n" + to_string(module);
  clamp_params(module);
  Bindings params = distal::core::bind(module, {});
  validate(module, params);
  std::shared_ptr<const Program> program = compile(module);
  if (to_string(*program).empty()) return "the program prints as nothing";
  if (!is_small(module, params) || !is_small(*program, params)) return "";
  if (to_string(make_plan(program, params)).empty()) return "the plan prints as nothing";
  return checked(to_string(module));
}

}  // namespace

std::string fuzz_one(const std::string& text) {
  if (text.size() > kMaxText) return "";
  try {
    return follow(text);
  } catch (const Error&) {
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace distal::core::fuzz
