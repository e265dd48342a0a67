// Random programs, built with the C++ API. They equal the programs of their texts, and compute what the reference does.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "check/reference.h"
#include "data/random.h"
#include "from_module.h"
#include "lang/parse.h"
#include "lang/validate.h"
#include "lower/compile.h"
#include "lower/with_values.h"
#include "plan/plan.h"
#include "property/generate.h"
#include "support/index_extents.h"
#include "tune/find.h"

namespace distal {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kPrograms = 60;
#else
constexpr uint64_t kPrograms = 400;
#endif
constexpr uint64_t kFirstSeed = 2'000'000;  // different from the seeds of the property tests
constexpr int kMarkedRuns = 3;              // programs with marked loops; compiling their leaves is slow

// ---- comparing modules ----

// Makes modules comparable. Two texts of one program may differ in the names of a distribution's dimensions, the
// decimal point of a whole literal, the names of machines, and the order of declarations.
class Normalizer {
 public:
  explicit Normalizer(const core::Module& module) : out_(module) {}

  core::Module run() {
    for (core::Tensor& t : out_.tensors) tensor(t);
    for (core::ScheduledStatement& s : out_.statements) {
      s.statement.rhs = expression(s.statement.rhs);
      for (core::Command& c : s.schedule) command(c);
    }
    sort(out_.params);
    sort(out_.machines);
    sort(out_.tensors);
    return std::move(out_);
  }

 private:
  template <class Item>
  static void sort(std::vector<Item>& items) {
    std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.name < b.name; });
  }

  void tensor(core::Tensor& t) const {
    if (t.machine && t.machine->name.empty()) {
      auto declared = std::find_if(out_.machines.begin(), out_.machines.end(), [&](core::Machine m) {
        m.name = "";
        return m == *t.machine;
      });
      if (declared != out_.machines.end()) t.machine = *declared;
    }
    if (!t.distribution) return;
    for (core::LevelDistribution& level : t.distribution->levels) number_dimensions(level);
  }

  static void number_dimensions(core::LevelDistribution& level) {
    std::map<std::string, std::string> name;
    for (std::string& d : level.tensor_dimensions) {
      std::string number = fmt::format("d{}", name.size());
      name[d] = number;
      d = number;
    }
    for (core::MachineDimension& m : level.machine_dimensions) {
      if (auto* p = std::get_if<core::Partition>(&m.role)) p->name = name.at(p->name);
    }
    std::map<std::string, core::IntExpr> cyclic;
    for (const auto& [d, block] : level.cyclic) cyclic.emplace(name.at(d), block);
    level.cyclic = cyclic;
  }

  static core::Expr expression(const core::Expr& e) {
    if (const auto* l = std::get_if<core::Literal>(&e.node())) {
      core::Literal literal = *l;
      literal.integral = std::floor(literal.value) == literal.value;
      return literal;
    }
    if (const auto* n = std::get_if<core::Negate>(&e.node())) return core::Expr::negate(expression(n->operand));
    if (const auto* b = std::get_if<core::Binary>(&e.node())) {
      return core::Expr::binary(b->op, expression(b->left), expression(b->right));
    }
    return e;
  }

  static void command(core::Command& c) {
    for (core::Argument& argument : c.arguments) {
      auto* onto = std::get_if<core::GridRef>(&argument);
      if (onto && onto->notation) number_dimensions(*onto->notation);
      if (auto* part = std::get_if<core::Expr>(&argument)) *part = expression(*part);
    }
  }

  core::Module out_;
};

// Removes the declarations that `other` does not have: a kernel declares only what it uses.
core::Module declared_in(core::Module module, const core::Module& other) {
  auto keep = [](auto& mine, const auto& theirs) {
    std::erase_if(mine, [&](const auto& item) {
      return std::none_of(theirs.begin(), theirs.end(), [&](const auto& x) { return x.name == item.name; });
    });
  };
  keep(module.params, other.params);
  keep(module.machines, other.machines);
  keep(module.tensors, other.tensors);
  return module;
}

void expect_same_program(const core::Module& written, const std::string& text) {
  core::Module built = core::parse_module(text, "kernel");
  core::Module want = Normalizer(written).run(), have = Normalizer(built).run();
  want = declared_in(want, have);
  EXPECT_TRUE(want == have) << "built:\n" << core::to_string(have) << "\nwritten:\n" << core::to_string(want);
}

// ---- data ----

struct Elements : TensorHandle {
  explicit Elements(const TensorHandle& t) : TensorHandle(t) {}
  using TensorHandle::element;
  using TensorHandle::fill_elements;
};

class RandomProgram {
 public:
  explicit RandomProgram(const core::Module& module) : module_(module), built_(module) {}

  // Compares the text of one kernel of all statements. No tensor may be defined twice.
  void check_text() {
    std::vector<TensorHandle> defined;
    for (size_t s = 0; s < module_.statements.size(); ++s) defined.push_back(built_.define(s));
    std::string text = Kernel(defined).text();
    expect_same_program(found(core::parse_module(text, "kernel")), text);
  }

  // Runs statement by statement and compares each with the reference.
  void check_run() {
    for (const core::Tensor& t : module_.tensors) fill(t.name);
    for (size_t s = 0; s < module_.statements.size(); ++s) {
      Kernel kernel = built_.define(s).compile();
      std::map<std::string, std::vector<std::byte>> before;
      for (const core::Tensor& t : module_.tensors) before[t.name] = gather(t.name);
      RunReport report = kernel.run({2, s % 2 == 0});
      EXPECT_EQ(report.bytes_moved, kernel.cost().bytes_moved);
      check(module_.statements[s].statement, before);
    }
  }

 private:
  // The program with what it leaves out. A statement may run on the only machine, so there are no more machines than
  // the kernel has.
  core::Module found(const core::Module& kernel) const {
    core::FindOptions options;
    options.model = core::model_of_engine("threads");
    core::Module written = module_;
    for (core::Tensor& t : written.tensors) declare_machine(t, written);
    std::erase_if(written.machines, [&](const core::Machine& m) { return !kernel.find_machine(m.name); });
    core::Module module = core::find_what_is_left_out(written, core::bind(written, {}), options).module;
    for (core::Tensor& t : module.tensors) {
      if (core::has_free_format(t)) t.distribution = on_first_processor(t);
    }
    return module;
  }

  // In C++ a machine that the text writes in place is the declared one that is the same.
  static void declare_machine(core::Tensor& tensor, const core::Module& module) {
    if (!tensor.machine || !tensor.machine->name.empty()) return;
    for (core::Machine declared : module.machines) {
      std::string name = std::exchange(declared.name, "");
      if (declared == *tensor.machine) tensor.machine->name = name;
    }
  }

  static core::Distribution on_first_processor(const core::Tensor& tensor) {
    core::Distribution out;
    for (const core::Grid& grid : tensor.machine->levels) {
      core::LevelDistribution& level = out.levels.emplace_back();
      for (size_t d = 0; d < tensor.dimensions.size(); ++d) level.tensor_dimensions.push_back(fmt::format("d{}", d));
      level.machine_dimensions.assign(grid.extents.size(), {core::Fix{core::IntExpr(0)}, {}});
    }
    return out;
  }

  int64_t size() const { return core::size_of(module_.type); }

  int64_t index(const std::string& name, std::span<const int64_t> at) {
    int64_t out = 0;
    std::vector<int64_t> shape = built_.tensor(name).shape();
    for (size_t d = 0; d < at.size(); ++d) out = out * shape[d] + at[d];
    return out;
  }

  void fill(const std::string& name) {
    Elements(built_.tensor(name)).fill_elements([&](const std::vector<int64_t>& at, void* element) {
      core::with_element_type(module_.type, [&](auto zero) {
        auto value = core::random_value<decltype(zero)>(core::tensor_seed(name, 1), index(name, at));
        std::memcpy(element, &value, sizeof(value));
      });
    });
  }

  std::vector<std::byte> gather(const std::string& name) {
    int64_t volume = 1;
    for (int64_t extent : built_.tensor(name).shape()) volume *= extent;
    std::vector<std::byte> out(static_cast<size_t>(volume * size()));
    Elements(built_.tensor(name)).fill_elements([&](const std::vector<int64_t>& at, void* element) {
      std::memcpy(out.data() + index(name, at) * size(), element, static_cast<size_t>(size()));
    });
    return out;
  }

  void check(const core::Statement& written, const std::map<std::string, std::vector<std::byte>>& before) {
    core::Statement statement = core::with_values(written, core::bind(module_, {}));
    std::vector<int64_t> shape = built_.tensor(statement.lhs.tensor).shape();
    auto extents = core::test::index_extents(statement, [&](const std::string& t) { return built_.tensor(t).shape(); });
    auto then = [&](const std::string& tensor, std::span<const int64_t> at) -> const void* {
      return before.at(tensor).data() + index(tensor, at) * size();
    };
    auto now = [&](const std::string& tensor, std::span<const int64_t> at) -> const void* {
      return Elements(built_.tensor(tensor)).element({at.begin(), at.end()});
    };
    core::CheckResult result = core::check_statement(statement, module_.type, extents, then, now, 0, 0, {}, shape);
    EXPECT_TRUE(result.ok) << core::to_string(statement) << ": " << result.first_wrong;
  }

  const core::Module& module_;
  FromModule built_;
};

// ---- which programs ----

bool is_marked(const core::Module& module) {
  for (const core::ScheduledStatement& s : module.statements) {
    for (const core::Command& c : s.schedule) {
      if (c.name == "parallelize" || c.name == "unroll" || c.name == "vectorize") return true;
    }
  }
  return false;
}

bool defines_twice(const core::Module& module) {
  std::set<std::string> defined;
  for (const core::ScheduledStatement& s : module.statements) {
    if (!defined.insert(s.statement.lhs.tensor).second) return true;
  }
  return false;
}

// Whether a bare distribute takes a machine that no tensor or command names. In C++ it would have to name it.
bool uses_unnamed_machine(const core::Module& module) {
  for (const core::ScheduledStatement& s : module.statements) {
    bool bare = std::any_of(s.schedule.begin(), s.schedule.end(),
                            [](const core::Command& c) { return c.name == "distribute" && c.arguments.size() == 1; });
    std::vector<core::Access> all = core::accesses(s.statement.rhs);
    all.push_back(s.statement.lhs);
    for (const core::Command& c : s.schedule) {
      if (c.name == "precompute") all.push_back({std::get<core::Name>(c.arguments[3]).text, {}, {}});
    }
    bool placed = std::any_of(all.begin(), all.end(), [&](const core::Access& a) {
      const core::Tensor* t = module.find_tensor(a.tensor);
      return t && t->distribution;
    });
    if (bare && !placed) return true;
  }
  return false;
}

// A few of the generated texts are refused already when they are read.
std::optional<core::Module> parsed_if_legal(const std::string& text) {
  try {
    return core::parse_module(text, "program");
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool is_legal(const core::Module& module) {
  try {
    core::Bindings params = core::bind(module, {});
    core::validate(module, params);
    core::make_plan(core::compile(module), params);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(RandomPrograms, AreWhatTheirTextsAre) {
  int compared = 0, run = 0, marked = 0;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kPrograms && !HasFailure(); ++seed) {
    core::property::GeneratedProgram generated = core::property::generate_program(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, generated.text));
    if (generated.wrong) continue;  // it may use undeclared names, which have no object
    std::optional<core::Module> parsed = parsed_if_legal(generated.text);
    if (!parsed || uses_unnamed_machine(*parsed)) continue;
    const core::Module& module = *parsed;
    if (!is_legal(module)) {
      EXPECT_THROW(RandomProgram(module).check_run(), Error);
      continue;
    }
    if (!defines_twice(module)) {
      ++compared;
      RandomProgram(module).check_text();
    }
    if (is_marked(module) && ++marked > kMarkedRuns) continue;
    ++run;
    RandomProgram(module).check_run();
  }
  EXPECT_GE(compared, static_cast<int>(kPrograms) * 7 / 10);
  EXPECT_GE(run, static_cast<int>(kPrograms) * 6 / 10);
}

}  // namespace
}  // namespace distal
