#include "cli/prepared_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "cli/threads_backend.h"
#include "data/npy_writer.h"
#include "lower/compile.h"
#include "store/slabs.h"
#include "support/available_memory.h"
#include "support/text.h"

namespace distal::core {

namespace {

void require_cpu(const Grid& grid, const std::string& engine) {
  if (grid.processor != ProcessorKind::Gpu) return;
  throw Error(fmt::format("{} has gpu processors, and the {} engine has none", to_string(grid), engine), grid.span, {},
              Error::Kind::Resources);
}

LeafChoice leaf_choice(const CliOptions& options) {
  if (options.strict_order && options.leaf != "auto") {
    throw Error(
        fmt::format("--strict-order and --leaf {} both choose how leaves run; give only one of them", options.leaf));
  }
  if (options.strict_order) return LeafChoice::Strict;
  if (options.leaf == "generated") return LeafChoice::Generated;
  return options.leaf == "interpreted" ? LeafChoice::Interpreted : LeafChoice::Automatic;
}

}  // namespace

// Declarations of tensors and schedules may contain grids too.
void require_host(const Module& module, const std::string& engine) {
  for (const Machine& m : module.machines) {
    for (const Grid& g : m.levels) require_cpu(g, engine);
  }
  for (const Tensor& t : module.tensors) {
    for (const Grid& g : t.machine ? t.machine->levels : std::vector<Grid>{}) require_cpu(g, engine);
    if (t.memory != MemoryKind::Gpu) continue;
    throw Error(fmt::format("tensor {} lives in gpu memory, and the {} engine has none", t.name, engine), t.span, {},
                Error::Kind::Resources);
  }
  for (const ScheduledStatement& s : module.statements) {
    for (const Command& command : s.schedule) {
      const GridRef* onto = onto_of(command);
      if (onto && onto->grid) require_cpu(*onto->grid, engine);
    }
  }
}

void require_options(const CliOptions& options, const Module& module) {
  if (options.engine == "mpi" && options.own_memory) {
    throw Error("the mpi engine does not support --own-memory");
  }
  leaf_choice(options);
  parse_files(options.load, "--load", module);
  parse_files(options.save, "--save", module);
}

RunInputs::RunInputs(const CliOptions& options, const LoadedModule& loaded)
    : plan(make_plan(compile(loaded.module), loaded.params)),
      data(plan, parse_files(options.load, "--load", loaded.module), options.seed) {}

int64_t extra_bytes(const Plan& plan, const CliOptions& options, bool has_all_pieces) {
  int64_t files = static_cast<int64_t>(options.load.size()) * NpyReader::kKeptBytes;
  return checking_bytes(plan, samples(options), has_all_pieces) + files;
}

PreparedRun::PreparedRun(const CliOptions& options, const LoadedModule& loaded)
    : PreparedRun(options, std::make_unique<RunInputs>(options, loaded),
                  [&](const Plan& plan, const MakeLeaves& make_leaves) {
                    return make_threads_backend(plan, make_leaves, {options.threads, options.own_memory},
                                                extra_bytes(plan, options, true));
                  }) {}

PreparedRun::PreparedRun(const CliOptions& options, std::unique_ptr<RunInputs> inputs, const MakeBackend& make_backend)
    : options_(options), inputs_(std::move(inputs)), plan_(inputs_->plan), data_(inputs_->data) {
  LeafChoice leaf = leaf_choice(options);
  auto make_leaves = [&] {
    std::vector<std::unique_ptr<LeafKernel>> leaves;
    leaves_.clear();
    for (const StagePlan& stage : plan_.stages) {
      leaves.push_back(make_leaf(stage, plan_.program->module.type, leaf));
      leaves_.push_back(leaves.back().get());
    }
    return leaves;
  };
  backend_ = make_backend(plan_, make_leaves);
  show_progress("placing data");
  for (size_t t = 0; t < plan_.tensors.size(); ++t) data_.place(static_cast<int>(t), backend_->store());
  if (backend_->has_all_pieces()) {
    checker_ = std::make_unique<ResultChecker>(plan_, data_, backend_->store());
  } else {
    checker_ = std::make_unique<ResultChecker>(
        plan_, data_, backend_->store(), [this](int64_t p) { return backend_->is_local(p); },
        [this](int tensor) { return backend_->gather(tensor, true); });
  }
}

void PreparedRun::run_all() {
  for (int rep = 0; rep < options_.reps; ++rep) {
    if (rep > 0) restore_outputs();
    show_progress(fmt::format("running {} of {}", rep + 1, options_.reps));
    if (rep + 1 == options_.reps) {
      seconds_.push_back(run_checked());
      continue;
    }
    seconds_.push_back(timed([&] { backend_->run(); }));
  }
  show_progress("");
  check_ = backend_->combined(checker_->result());
  std::sort(seconds_.begin(), seconds_.end());
}

void PreparedRun::save(const std::string& tensor, const std::string& file) {
  int index = plan_.tensor_index(tensor);
  const Coordinates& shape = plan_.tensors[index].owners.shape();
  write_npy(file, backend_->store().type(), {shape.begin(), shape.end()}, backend_->group(),
            [&](const WriteNpyRect& write) { save_pieces(backend_->store().pieces(index), write); });
}

RunReport PreparedRun::report() const {
  std::vector<std::string> leaf_names;
  for (const LeafKernel* leaf : leaves_) leaf_names.push_back(leaf->description());
  return {options_.engine,
          backend_->description(),
          &plan_,
          seconds_,
          check_,
          counts_.bytes_moved,
          counts_.bytes_copied,
          counts_.messages,
          backend_->peak_per_processor(),
          counts_.tasks,
          std::move(leaf_names),
          backend_->resident_bytes()};
}

void PreparedRun::restore_outputs() {
  std::set<int> outputs;
  for (const StagePlan& s : plan_.stages) outputs.insert(s.output);
  for (int t : outputs) data_.place(t, backend_->store());
}

double PreparedRun::timed(const std::function<void()>& run) {
  backend_->barrier();
  auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Runs statement by statement and checks each one before the next one changes its operands.
double PreparedRun::run_checked() {
  double taken = 0;
  RunCounts sum;
  for (size_t s = 0; s < plan_.stages.size(); ++s) {
    const StagePlan& stage = plan_.stages[s];
    std::vector<std::byte> before;
    if (checker_->is_written(stage.output)) before = backend_->gather(stage.output, true);
    taken += timed([&] { sum += backend_->run_stage(s); });
    show_progress("checking");
    checker_->check(stage, before, samples(options_), options_.seed);
  }
  counts_ = sum;
  return taken;
}

}  // namespace distal::core
