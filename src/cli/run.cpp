#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "check/reference.h"
#include "cli/dataset.h"
#include "cli/options.h"
#include "engine/threads/engine.h"
#include "lower/compile.h"
#include "plan/cost.h"
#include "plan/verify.h"
#include "support/text.h"

namespace distal {

namespace {

constexpr int64_t kSamples = 1000;

int64_t available_memory() {
  std::ifstream info("/proc/meminfo");
  for (std::string key; info >> key;) {
    int64_t kib = 0;
    if (key == "MemAvailable:" && info >> kib) return kib * 1024;
    info.ignore(256, '\n');
  }
  return std::numeric_limits<int64_t>::max();
}

// The threads engine has processors and memory of the host only.
void require_host(const Module& module) {
  for (const Machine& m : module.machines) {
    for (const Grid& g : m.levels) {
      if (g.processor != ProcessorKind::Gpu) continue;
      throw Error(fmt::format("machine {} has gpu processors, and the threads engine has none", m.name), m.span, {},
                  Error::Kind::Resources);
    }
  }
  for (const Tensor& t : module.tensors) {
    if (t.memory != MemoryKind::Gpu) continue;
    throw Error(fmt::format("tensor {} lives in gpu memory, and the threads engine has none", t.name), t.span, {},
                Error::Kind::Resources);
  }
}

LeafChoice leaf_choice(const std::string& name) {
  if (name == "generated") return LeafChoice::Generated;
  return name == "interpreted" ? LeafChoice::Interpreted : LeafChoice::Automatic;
}

// A program ready to run: planned, verified, with its data in place.
class Session {
 public:
  Session(const CliOptions& options, const LoadedModule& loaded)
      : options_(options),
        plan_(make_plan(compile(loaded.module), loaded.params)),
        threads_{options.threads, options.own_memory},
        needs_(memory_needs(plan_, reach_of(threads_))),
        data_(plan_, parse_files(options.load, "--load", loaded.module), options.seed),
        allocator_(plan_.processors) {
    verify(plan_, needs_);
    require_memory();
    store_ = std::make_unique<TensorStore>(plan_, allocator_);
    std::vector<std::unique_ptr<LeafKernel>> leaves;
    for (const StagePlan& stage : plan_.stages) {
      leaves.push_back(make_leaf(stage, plan_.program->module.type, leaf_choice(options.leaf)));
      leaf_names_.push_back(leaves.back()->description());
    }
    engine_ = std::make_unique<ThreadsEngine>(plan_, needs_, std::move(leaves), allocator_, *store_, threads_);
    for (size_t t = 0; t < plan_.tensors.size(); ++t) data_.place(static_cast<int>(t), *store_);
  }

  void run_all() {
    for (int rep = 0; rep < options_.reps; ++rep) {
      if (rep > 0) restore_outputs();
      bool last = rep + 1 == options_.reps;
      auto start = std::chrono::steady_clock::now();
      if (last && plan_.stages.size() > 1) {
        run_stages_checked();
        continue;
      }
      counts_ = engine_->run();
      std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      seconds_.push_back(taken.count());
      if (last) check_stage(0, {});
    }
    std::sort(seconds_.begin(), seconds_.end());
  }

  void save(const Module& module) const {
    for (const auto& [name, file] : parse_files(options_.save, "--save", module)) {
      int tensor = plan_.tensor_index(name);
      const Coordinates& shape = plan_.tensors[tensor].owners.shape();
      write_npy(file, {store_->type(), {shape.begin(), shape.end()}, store_->gather(tensor)});
    }
  }

  nlohmann::ordered_json json() const {
    double best = seconds_.front();
    return {{"ok", check_.ok},
            {"engine", options_.engine},
            {"processors", plan_.processors},
            {"seconds_min", best},
            {"seconds_median", median()},
            {"gflops", flops() / best * 1e-9},
            {"gbps", tensor_bytes() / best * 1e-9},
            {"max_relative_error", check_.max_relative_error},
            {"bytes_moved", counts_.bytes_moved},
            {"bytes_copied", counts_.bytes_copied},
            {"messages", counts_.messages},
            {"peak_bytes_per_processor", allocator_.peak_per_processor()},
            {"elements_checked", check_.checked},
            {"tasks", counts_.tasks},
            {"leaves", leaf_names_},
            {"type", to_string(store_->type())}};
  }

  std::string summary() const {
    std::string out;
    for (const StagePlan& s : plan_.stages) out += fmt::format("{}\n", to_string(s.stage->source.statement));
    const Machine& machine = plan_.stages[0].stage->machine;
    out += fmt::format("  ran on    {} processors, {} of threads, {} leaf, {}\n", plan_.processors,
                       machine_text(machine, plan_.params), fmt::join(leaf_names_, ", "), to_string(store_->type()));
    out += fmt::format("  moved     {} in {} messages ({} really copied)\n", bytes_text(double(counts_.bytes_moved)),
                       with_commas(counts_.messages), bytes_text(double(counts_.bytes_copied)));
    out +=
        fmt::format("  memory    {} at most on one processor\n", bytes_text(double(allocator_.peak_per_processor())));
    out += fmt::format("  time      {} best, {} median of {}\n", seconds_text(seconds_.front()), seconds_text(median()),
                       seconds_.size());
    out += fmt::format("  speed     {:.2f} GFLOP/s, {:.2f} GB/s\n", flops() / seconds_.front() * 1e-9,
                       tensor_bytes() / seconds_.front() * 1e-9);
    out += fmt::format("  check     {}, largest relative error {:.1e} in {} elements\n",
                       check_.ok ? "correct" : "WRONG", check_.max_relative_error, with_commas(check_.checked));
    if (!check_.ok) out += fmt::format("            {}\n", check_.first_wrong);
    return out;
  }

  bool ok() const { return check_.ok; }

 private:
  static std::string machine_text(const Machine& machine, const Bindings& params) {
    std::vector<std::string> levels;
    for (const Grid& g : machine.levels) {
      std::vector<int64_t> extents;
      for (const IntExpr& e : g.extents) extents.push_back(e.evaluate(params));
      levels.push_back(fmt::format("{}", fmt::join(extents, "×")));
    }
    return fmt::format("a {} grid", fmt::join(levels, " of "));
  }

  void require_memory() const {
    int64_t need = needs_.total + data_.loaded_bytes();
    int64_t have = available_memory();
    if (need <= have) return;
    throw Error(fmt::format("the run needs {} ({} bytes), and the machine has {} ({} bytes)", bytes_text(double(need)),
                            with_commas(need), bytes_text(double(have)), with_commas(have)),
                {}, "choose smaller sizes with --set", Error::Kind::Resources);
  }

  std::set<int> outputs() const {
    std::set<int> out;
    for (const StagePlan& s : plan_.stages) out.insert(s.output);
    return out;
  }

  void restore_outputs() {
    for (int t : outputs()) data_.place(t, *store_);
  }

  // Statement by statement, so that each can be checked before the next one changes what it read.
  void run_stages_checked() {
    double taken = 0;
    RunCounts sum;
    std::set<int> written;
    for (size_t s = 0; s < plan_.stages.size(); ++s) {
      int output = plan_.stages[s].output;
      std::vector<std::byte> before;
      if (written.count(output) > 0) before = store_->gather(output);
      auto start = std::chrono::steady_clock::now();
      RunCounts counts = engine_->run_stage(s);
      taken += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      sum.bytes_moved += counts.bytes_moved;
      sum.bytes_copied += counts.bytes_copied;
      sum.messages += counts.messages;
      sum.tasks += counts.tasks;
      check_stage(s, before);
      written_.insert(output);
      written.insert(output);
    }
    counts_ = sum;
    seconds_.push_back(taken);
  }

  // `before` holds the output as it was if an earlier statement wrote it.
  void check_stage(size_t s, const std::vector<std::byte>& before) {
    const StagePlan& stage = plan_.stages[s];
    alignas(16) std::byte element[16];
    std::string output = plan_.tensors[stage.output].name;
    ElementReader read_before = [&](const std::string& name, std::span<const int64_t> at) -> const void* {
      int tensor = plan_.tensor_index(name);
      const Ownership& owners = plan_.tensors[tensor].owners;
      if (tensor == stage.output && !before.empty()) {
        int64_t index = 0;
        for (size_t d = 0; d < at.size(); ++d) index = index * owners.shape()[d] + at[d];
        return before.data() + index * plan_.tensors[tensor].element_bytes;
      }
      if (tensor != stage.output && written_.count(tensor) > 0) return stored(tensor, at);
      data_.read(tensor, at, element);
      return element;
    };
    ElementReader read_after = [&](const std::string&, std::span<const int64_t> at) {
      return stored(stage.output, at);
    };
    std::map<std::string, int64_t> extents;
    for (const IndexVar& v : variables(stage.stage->source.statement)) extents[v.name] = extents_of(stage).at(v.name);
    CheckResult result = check_statement(stage.stage->source.statement, store_->type(), extents, read_before,
                                         read_after, options_.check ? 0 : kSamples, options_.seed);
    std::string differing = store_->differing_replica(stage.output);
    if (!differing.empty() && result.ok) {
      result.ok = false;
      result.first_wrong = fmt::format("the replicas of {} differ at {}", output, differing);
    }
    if (check_.ok && !result.ok) check_.first_wrong = result.first_wrong;
    check_.ok = check_.ok && result.ok;
    check_.max_relative_error = std::max(check_.max_relative_error, result.max_relative_error);
    check_.checked += result.checked;
  }

  const void* stored(int tensor, std::span<const int64_t> at) const {
    const Ownership& owners = plan_.tensors[tensor].owners;
    Coordinates point(at.begin(), at.end());
    return store_->element(tensor, owners.first_owner(owners.colour_of(point)), point);
  }

  double median() const {
    size_t n = seconds_.size();
    return n % 2 == 1 ? seconds_[n / 2] : (seconds_[n / 2 - 1] + seconds_[n / 2]) / 2;
  }

  double flops() const {
    double sum = 0;
    for (const StagePlan& s : plan_.stages) sum += flops_of(s.stage->source.statement, extents_of(s));
    return sum;
  }

  // Each operand and result of every statement once.
  double tensor_bytes() const {
    double sum = 0;
    for (const StagePlan& s : plan_.stages) {
      std::set<int> used{s.output};
      for (const Access& a : accesses(s.stage->source.statement.rhs)) used.insert(plan_.tensor_index(a.tensor));
      for (int t : used) {
        double volume = 1;
        for (int64_t e : plan_.tensors[t].owners.shape()) volume *= static_cast<double>(e);
        sum += volume * static_cast<double>(plan_.tensors[t].element_bytes);
      }
    }
    return sum;
  }

  const CliOptions& options_;
  Plan plan_;
  ThreadsOptions threads_;
  MemoryNeeds needs_;
  Dataset data_;
  Allocator allocator_;
  std::unique_ptr<TensorStore> store_;
  std::unique_ptr<ThreadsEngine> engine_;
  std::vector<std::string> leaf_names_;
  std::vector<double> seconds_;
  std::set<int> written_;
  RunCounts counts_;
  CheckResult check_;
};

}  // namespace

int run_command(const CliOptions& options) {
  if (options.engine != "threads") {
    throw Error(fmt::format("there is no engine {}; the engines are threads", options.engine));
  }
  LoadedModule loaded = load_module(options);
  require_host(loaded.module);
  parse_files(options.save, "--save", loaded.module);  // a wrong name is said before the work, not after it
  Session session(options, loaded);
  session.run_all();
  session.save(loaded.module);
  if (options.json) {
    std::cout << session.json().dump() << std::endl;
  } else {
    fmt::print("{}", session.summary());
  }
  return session.ok() ? 0 : 1;
}

}  // namespace distal
