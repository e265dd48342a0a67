#include "cli/prepared_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>

#include "lower/compile.h"
#include "plan/cost.h"
#include "plan/verify.h"
#include "support/text.h"

namespace distal::core {

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

void require_cpu(const Grid& grid) {
  if (grid.processor != ProcessorKind::Gpu) return;
  throw Error(fmt::format("{} has gpu processors, and the threads engine has none", to_string(grid)), grid.span, {},
              Error::Kind::Resources);
}

// One line on a terminal that says what is going on; it is overwritten by the next, and by nothing at the end.
void progress(const std::string& what) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{}", what);
  std::fflush(stderr);
}

LeafChoice leaf_choice(const CliOptions& options) {
  if (options.strict_order && options.leaf != "auto") {
    throw Error(
        fmt::format("--strict-order chooses how leaves run, and --leaf {} does too; give one of them", options.leaf));
  }
  if (options.strict_order) return LeafChoice::Strict;
  if (options.leaf == "generated") return LeafChoice::Generated;
  return options.leaf == "interpreted" ? LeafChoice::Interpreted : LeafChoice::Automatic;
}

std::string machine_text(const Machine& machine, const Bindings& params) {
  std::vector<std::string> levels;
  for (const Grid& g : machine.levels) {
    std::vector<int64_t> extents;
    for (const IntExpr& e : g.extents) extents.push_back(e.evaluate(params));
    levels.push_back(fmt::format("{}", fmt::join(extents, "×")));
  }
  return fmt::format("a {} grid", fmt::join(levels, " of "));
}

}  // namespace

// The threads engine has processors and memory of the host only. Grids may also stand in place, in a tensor's
// declaration and in a schedule.
void require_host(const Module& module) {
  for (const Machine& m : module.machines) {
    for (const Grid& g : m.levels) require_cpu(g);
  }
  for (const Tensor& t : module.tensors) {
    for (const Grid& g : t.machine ? t.machine->levels : std::vector<Grid>{}) require_cpu(g);
    if (t.memory != MemoryKind::Gpu) continue;
    throw Error(fmt::format("tensor {} lives in gpu memory, and the threads engine has none", t.name), t.span, {},
                Error::Kind::Resources);
  }
  for (const ScheduledStatement& s : module.statements) {
    for (const Command& command : s.schedule) {
      std::optional<GridRef> onto;
      if (const auto* d = std::get_if<DistributeCommand>(&command.action)) onto = d->onto;
      if (const auto* d = std::get_if<DistributeOntoCommand>(&command.action)) onto = d->onto;
      if (onto && onto->grid) require_cpu(*onto->grid);
    }
  }
}

PreparedRun::PreparedRun(const CliOptions& options, const LoadedModule& loaded)
    : options_(options),
      plan_(make_plan(compile(loaded.module), loaded.params)),
      threads_{options.threads, options.own_memory},
      needs_(memory_needs(plan_, reach_of(threads_))),
      data_(plan_, parse_files(options.load, "--load", loaded.module), options.seed),
      allocator_(plan_.processors) {
  LeafChoice leaf = leaf_choice(options);
  verify(plan_, needs_, {.total = require_memory()});
  store_ = std::make_unique<TensorStore>(plan_, allocator_);
  std::vector<std::unique_ptr<LeafKernel>> leaves;
  for (const StagePlan& stage : plan_.stages) {
    leaves.push_back(make_leaf(stage, plan_.program->module.type, leaf));
    leaf_names_.push_back(leaves.back()->description());
  }
  engine_ = std::make_unique<ThreadsEngine>(plan_, needs_, std::move(leaves), allocator_, *store_, threads_);
  progress("placing data");
  for (size_t t = 0; t < plan_.tensors.size(); ++t) data_.place(static_cast<int>(t), *store_);
  checker_ = std::make_unique<ResultChecker>(plan_, data_, *store_);
}

void PreparedRun::run_all() {
  for (int rep = 0; rep < options_.reps; ++rep) {
    if (rep > 0) restore_outputs();
    progress(fmt::format("running {} of {}", rep + 1, options_.reps));
    if (rep + 1 == options_.reps) {
      seconds_.push_back(run_checked());
      continue;
    }
    auto start = std::chrono::steady_clock::now();
    engine_->run();
    seconds_.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  progress("");
  std::sort(seconds_.begin(), seconds_.end());
}

void PreparedRun::save(const std::string& tensor, const std::string& file) const {
  int index = plan_.tensor_index(tensor);
  const Coordinates& shape = plan_.tensors[index].owners.shape();
  write_npy(file, {store_->type(), {shape.begin(), shape.end()}, store_->gather(index)});
}

nlohmann::ordered_json PreparedRun::json() const {
  double best = seconds_.front();
  return {{"ok", check().ok},
          {"engine", options_.engine},
          {"processors", plan_.processors},
          {"seconds_min", best},
          {"seconds_median", median()},
          {"gflops", flops() / best * 1e-9},
          {"gbps", tensor_bytes() / best * 1e-9},
          {"max_relative_error", check().max_relative_error},
          {"bytes_moved", counts_.bytes_moved},
          {"bytes_copied", counts_.bytes_copied},
          {"messages", counts_.messages},
          {"peak_bytes_per_processor", allocator_.peak_per_processor()},
          {"elements_checked", check().checked},
          {"tasks", counts_.tasks},
          {"leaves", leaf_names_},
          {"type", to_string(store_->type())}};
}

std::string PreparedRun::ran_text() const {
  const Machine& machine = plan_.stages[0].stage->machine;
  return fmt::format("  ran on    {} processors, {} of threads, {} leaf, {}\n", plan_.processors,
                     machine_text(machine, plan_.params), fmt::join(leaf_names_, ", "), to_string(store_->type()));
}

std::string PreparedRun::moved_text() const {
  return fmt::format("  moved     {} in {} messages ({} really copied)\n", bytes_text(double(counts_.bytes_moved)),
                     with_commas(counts_.messages), bytes_text(double(counts_.bytes_copied)));
}

std::string PreparedRun::memory_text() const {
  return fmt::format("  memory    {} at most on one processor\n", bytes_text(double(allocator_.peak_per_processor())));
}

std::string PreparedRun::time_text() const {
  return fmt::format("  time      {} best, {} median of {}\n", seconds_text(seconds_.front()), seconds_text(median()),
                     seconds_.size());
}

std::string PreparedRun::speed_text() const {
  return fmt::format("  speed     {:.2f} GFLOP/s, {:.2f} GB/s\n", flops() / seconds_.front() * 1e-9,
                     tensor_bytes() / seconds_.front() * 1e-9);
}

std::string PreparedRun::check_text() const {
  std::string out =
      fmt::format("  check     {}, largest relative error {:.1e} in {} elements\n", check().ok ? "correct" : "WRONG",
                  check().max_relative_error, with_commas(check().checked));
  if (!check().ok) out += fmt::format("            {}\n", check().first_wrong);
  return out;
}

int64_t PreparedRun::require_memory() const {
  int64_t need = needs_.total + data_.loaded_bytes();
  int64_t have = available_memory();
  if (need <= have) return have - data_.loaded_bytes();
  throw Error(fmt::format("the run needs {} ({} bytes), and the machine has {} ({} bytes)", bytes_text(double(need)),
                          with_commas(need), bytes_text(double(have)), with_commas(have)),
              {}, "choose smaller sizes with --set", Error::Kind::Resources);
}

void PreparedRun::restore_outputs() {
  std::set<int> outputs;
  for (const StagePlan& s : plan_.stages) outputs.insert(s.output);
  for (int t : outputs) data_.place(t, *store_);
}

// Statement by statement, so that each can be checked before the next one changes what it read.
double PreparedRun::run_checked() {
  double taken = 0;
  RunCounts sum;
  for (size_t s = 0; s < plan_.stages.size(); ++s) {
    const StagePlan& stage = plan_.stages[s];
    std::vector<std::byte> before;
    if (checker_->is_written(stage.output)) before = store_->gather(stage.output);
    auto start = std::chrono::steady_clock::now();
    RunCounts counts = engine_->run_stage(s);
    taken += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    sum += counts;
    progress("checking");
    checker_->check(stage, before, options_.check ? 0 : kSamples, options_.seed);
  }
  counts_ = sum;
  return taken;
}

double PreparedRun::median() const {
  size_t n = seconds_.size();
  return n % 2 == 1 ? seconds_[n / 2] : (seconds_[n / 2 - 1] + seconds_[n / 2]) / 2;
}

double PreparedRun::flops() const {
  double sum = 0;
  for (const StagePlan& s : plan_.stages) sum += flops_of(plan_, s);
  return sum;
}

// Each operand and result of every statement once.
double PreparedRun::tensor_bytes() const {
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

}  // namespace distal::core
