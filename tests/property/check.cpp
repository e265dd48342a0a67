#include "check.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <stdexcept>

#include "check/reference.h"
#include "data/random.h"
#include "definition.h"
#include "engine/runner.h"
#include "lang/parse.h"
#include "lang/validate.h"
#include "leaf/generate.h"
#include "leaf/interpret.h"
#include "lower/compile.h"
#include "plan/certificate.h"
#include "plan/cost.h"
#include "plan/verify.h"
#include "support/index_extents.h"

namespace distal::core::property {

namespace {

struct Failure : std::runtime_error {
  Failure(std::string how, const std::string& what) : std::runtime_error(what), signature(std::move(how)) {}
  std::string signature;
};

template <class... Args>
[[noreturn]] void fail(const std::string& signature, fmt::format_string<Args...> text, Args&&... args) {
  throw Failure(signature, fmt::format(text, std::forward<Args>(args)...));
}

void require_equal(const std::string& signature, int64_t have, int64_t want) {
  if (have != want) fail(signature, "{}: {}, expected {}", signature, have, want);
}

enum class LeafKind { Interpreted, Gemm, Generated };

// How a program is planned and run.
struct RunMode {
  std::string name;
  RunnerOptions runner;
  PlanOptions plan;
  LeafKind leaf = LeafKind::Interpreted;
};

std::vector<RunMode> run_modes(const CheckOptions& options) {
  std::vector<RunMode> out{{"own memory", {1, true}, {true}, LeafKind::Interpreted},
                           {"views", {2, false}, {true}, LeafKind::Gemm},
                           {"own memory, two threads", {2, true}, {true}, LeafKind::Gemm},
                           {"no neighbours", {1, true}, {false}, LeafKind::Interpreted}};
  if (options.one_mode) out.resize(1);
  if (options.generated_leaf) out.push_back({"generated leaf", {2, false}, {true}, LeafKind::Generated});
  return out;
}

// All tensors as plain arrays in row-major order: what the reference reads, filled and indexed without the compiler.
class PlainTensors {
 public:
  PlainTensors(const Module& module, const Bindings& params) : type_(module.type) {
    for (const Tensor& t : module.tensors) {
      Array& a = arrays_[t.name];
      int64_t volume = 1;
      for (const IntExpr& e : t.dimensions) {
        a.shape.push_back(e.evaluate(params));
        volume *= a.shape.back();
      }
      a.data.resize(static_cast<size_t>(volume * size_of(type_)));
      for (int64_t i = 0; i < volume; ++i) set_random(a, tensor_seed(t.name, 1), i);
    }
  }

  const std::byte* element(const std::string& tensor, std::span<const int64_t> at) const {
    const Array& a = arrays_.at(tensor);
    int64_t index = 0;
    for (size_t d = 0; d < at.size(); ++d) index = index * a.shape[d] + at[d];
    return a.data.data() + index * size_of(type_);
  }
  const std::vector<int64_t>& shape(const std::string& tensor) const { return arrays_.at(tensor).shape; }
  const std::vector<std::byte>& data(const std::string& tensor) const { return arrays_.at(tensor).data; }
  void replace(const std::string& tensor, std::vector<std::byte> data) { arrays_.at(tensor).data = std::move(data); }

 private:
  struct Array {
    std::vector<int64_t> shape;
    std::vector<std::byte> data;
  };

  void set_random(Array& a, uint64_t seed, int64_t index) const {
    with_element_type(type_, [&](auto zero) {
      auto value = random_value<decltype(zero)>(seed, index);
      std::memcpy(a.data.data() + static_cast<size_t>(index) * sizeof(value), &value, sizeof(value));
    });
  }

  ElementType type_;
  std::map<std::string, Array> arrays_;
};

std::unique_ptr<LeafKernel> leaf_for(const StagePlan& stage, ElementType type, LeafKind kind) {
  // Automatic calls a library where substitute asks for one, and interprets other leaves this small. It would compile
  // a leaf with marked loops, which takes too long here.
  bool marked = !all_marks(leaf_of(*stage.stage).root).empty();
  if (kind == LeafKind::Gemm && !marked) return make_leaf(stage, type, LeafChoice::Automatic);
  return make_leaf(stage, type, kind == LeafKind::Generated ? LeafChoice::Generated : LeafChoice::Interpreted);
}

// A program, planned and run in one mode.
class Run {
 public:
  Run(std::shared_ptr<const Program> program, const Bindings& params, const RunMode& mode)
      : mode_(mode),
        type_(program->module.type),
        tensors_(program->module, params),
        plan_(make_plan(program, params, mode.plan)),
        needs_(memory_needs(plan_, mode.runner.checked ? Reach::own() : Reach::all())),
        cost_(count_cost(plan_)),
        allocator_(plan_.processors) {
    verify(plan_, needs_);
  }

  const Plan& plan() const { return plan_; }
  const Cost& cost() const { return cost_; }

  void run() {
    TensorStore store(plan_, allocator_);
    Leaves leaves;
    for (const StagePlan& stage : plan_.stages) leaves.push_back(leaf_for(stage, type_, mode_.leaf));
    Runner runner(plan_, needs_, std::move(leaves), allocator_, store, mode_.runner);
    place(store);
    check_counts(runner.run());
    // Run again on fresh data, statement by statement, to check each result.
    place(store);
    RunCounts sum;
    for (size_t s = 0; s < plan_.stages.size(); ++s) {
      RunCounts counts = runner.run_stage(s);
      sum.bytes_moved += counts.bytes_moved;
      sum.messages += counts.messages;
      check_result(s, store);
    }
    check_counts(sum);
    check_memory();
    check_untouched(store);
  }

 private:
  void place(TensorStore& store) const {
    for (size_t t = 0; t < plan_.tensors.size(); ++t) {
      store.fill(static_cast<int>(t), [&](std::span<const int64_t> at, void* element) {
        std::memcpy(element, tensors_.element(plan_.tensors[t].name, at), static_cast<size_t>(size_of(type_)));
      });
    }
  }

  void check_counts(const RunCounts& counts) const {
    require_equal("bytes moved by the run", counts.bytes_moved, cost_.bytes_moved);
    require_equal("messages of the run", counts.messages, cost_.messages);
  }

  void check_memory() const {
    int64_t peak = allocator_.peak_per_processor();
    if (mode_.runner.checked) return require_equal("peak memory", peak, cost_.peak_bytes_per_processor);
    if (peak > cost_.peak_bytes_per_processor) {
      fail("peak memory with views", "{} bytes, and {} were promised", peak, cost_.peak_bytes_per_processor);
    }
  }

  void check_result(size_t s, const TensorStore& store) {
    const StagePlan& stage = plan_.stages[s];
    const std::string& output = plan_.tensors[stage.output].name;
    std::vector<std::byte> now = store.gather(stage.output);
    PlainTensors after = tensors_;
    after.replace(output, now);
    auto reader = [](const PlainTensors& from) {
      return [&from](const std::string& tensor, std::span<const int64_t> at) -> const void* {
        return from.element(tensor, at);
      };
    };
    const ScheduledStatement& source = stage.stage->source;
    auto compare = [&](const Statement& statement, const PlainTensors& before) {
      CheckResult result = check_statement(statement, type_, extents_in(statement), reader(before), reader(after), 0, 0,
                                           {}, tensors_.shape(statement.lhs.tensor));
      if (!result.ok) fail("wrong result", "{}: {}", to_string(statement), result.first_wrong);
    };
    compare(source.statement, tensors_);
    // A statement that precompute split: its parts together must compute the statement as written. Only integers are
    // compared, as the intermediate tensor is rounded.
    if (!before_) before_ = tensors_;
    if (source.origin && is_integer(type_)) compare(*source.origin, *before_);
    if (source.counts) before_.reset();
    std::string differing = store.differing_replica(stage.output);
    if (!differing.empty()) fail("replicas differ", "{}{}", output, differing);
    tensors_ = std::move(after);
  }

  std::map<std::string, int64_t> extents_in(const Statement& statement) const {
    return test::index_extents(statement, [&](const std::string& t) { return tensors_.shape(t); });
  }

  // Only the outputs have changed, and all replicas of a tensor are equal.
  void check_untouched(const TensorStore& store) const {
    for (size_t t = 0; t < plan_.tensors.size(); ++t) {
      const std::string& name = plan_.tensors[t].name;
      if (store.gather(static_cast<int>(t)) != tensors_.data(name)) fail("an input changed", "{} changed", name);
      std::string differing = store.differing_replica(static_cast<int>(t));
      if (!differing.empty()) fail("replicas differ", "{}{}", name, differing);
    }
  }

  const RunMode& mode_;
  ElementType type_;
  PlainTensors tensors_;
  std::optional<PlainTensors> before_;  // the tensors before the first part of the running statement
  Plan plan_;
  MemoryNeeds needs_;
  Cost cost_;
  Allocator allocator_;
};

void check_print(const Module& module) {
  std::string printed = to_string(module);
  try {
    if (parse_module(printed, "printed") == module) return;
  } catch (const Error& e) {
    fail("printed module is refused", "{}\n{}", e.what(), printed);
  }
  fail("printed module differs", "{}", printed);
}

// The bytes moved do not depend on which processor a piece comes from. The number of messages may.
void check_same_cost(const Cost& a, const Cost& b) {
  require_equal("bytes moved of two plans", b.bytes_moved, a.bytes_moved);
  for (const auto& [name, tensor] : a.tensors) {
    require_equal("bytes moved of a tensor of two plans", b.tensors.at(name).bytes, tensor.bytes);
  }
  int64_t sum = 0;
  for (int64_t bytes : a.bytes_by_level) sum += bytes;
  require_equal("bytes by level together", sum, a.bytes_moved);
}

void check_owners(const TensorPlan& tensor, const Owners& want) {
  int64_t number = 0;
  Coordinates at(tensor.owners.shape().size(), 0);
  for (const std::vector<int64_t>& processors : want) {
    int64_t rest = number++;
    for (size_t d = at.size(); d-- > 0;) {
      at[d] = rest % tensor.owners.shape()[d];
      rest /= tensor.owners.shape()[d];
    }
    if (tensor.owners.processors_of(tensor.owners.colour_of(at)) == processors) continue;
    fail("owners", "element {} of {} in row-major order has other owners than its distribution says", number - 1,
         tensor.name);
  }
}

// Compares owners and bytes of the plan with those by definition.
void check_definition(const Plan& plan, const Cost& cost) {
  std::map<std::string, Owners> owners;
  for (const TensorPlan& t : plan.tensors) {
    owners[t.name] = owners_by_definition(*plan.program->module.find_tensor(t.name), plan.params);
    check_owners(t, owners[t.name]);
  }
  for (const auto& [name, bytes] : bytes_by_definition(plan, owners)) {
    require_equal("bytes moved by definition", cost.tensors.at(name).bytes, bytes);
  }
}

// No schedule exchanges less than the lower bound.
void check_certificates(const Plan& plan) {
  for (const Certificate& c : certificates(plan)) {
    if (c.lower_bound_bytes <= c.exchanged_bytes) continue;
    fail("exchanges less than the lower bound", "{} exchanges {} bytes, and the lower bound is {}\n{}", c.statement,
         c.exchanged_bytes, c.lower_bound_bytes, c.bound);
  }
}

void check_modes(const Module& module, const CheckOptions& options, Features& features) {
  Bindings params = distal::core::bind(module, {});
  validate(module, params);
  std::shared_ptr<const Program> program = compile(module);
  if (options.plan_only) return add_plan_features(make_plan(program, params), features);
  std::optional<Cost> first;
  for (const RunMode& mode : run_modes(options)) {
    try {
      Run run(program, params, mode);
      if (!first) {
        add_plan_features(run.plan(), features);
        check_definition(run.plan(), run.cost());
        check_certificates(run.plan());
      }
      run.run();
      if (first) check_same_cost(*first, run.cost());
      if (!first) first = run.cost();
    } catch (const Failure& f) {
      throw Failure(mode.name + ": " + f.signature, f.what());
    } catch (const PlanError& e) {
      throw Failure(mode.name + ": verifier", e.what());
    } catch (const Error& e) {
      // A program that one mode accepts is legal in every other mode.
      if (first) throw Failure(mode.name + ": refused later", e.what());
      throw;
    }
  }
}

}  // namespace

Outcome check_program(const std::string& text, const CheckOptions& options) {
  Outcome out;
  auto set = [&](Outcome::Kind kind, std::string signature, std::string detail) {
    out.kind = kind;
    out.signature = std::move(signature);
    out.detail = std::move(detail);
  };
  try {
    Module module = parse_module(text, "program");
    check_print(module);
    add_language_features(module, out.features);
    check_modes(module, options, out.features);
  } catch (const Failure& f) {
    set(Outcome::Kind::Failed, f.signature, f.what());
  } catch (const Error& e) {
    set(Outcome::Kind::Refused, e.message(), e.what());
  } catch (const InternalError& e) {
    set(Outcome::Kind::Failed, "internal error", e.what());
  } catch (const std::exception& e) {
    set(Outcome::Kind::Failed, "exception", e.what());
  }
  return out;
}

}  // namespace distal::core::property
