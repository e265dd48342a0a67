#include "cli/prepared_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "data/npy_writer.h"
#include "plan/work.h"
#include "store/slabs.h"
#include "support/available_memory.h"
#include "support/text.h"

namespace distal::core {

namespace {

// The most memory that a process needs besides the plan's, to check results and to load files. `has_all_pieces`: this
// is the only process.
int64_t extra_bytes(const Plan& plan, const CliOptions& options, bool has_all_pieces) {
  int64_t files = static_cast<int64_t>(options.load.size()) * NpyReader::kKeptBytes;
  return files + (options.no_check ? 0 : checking_bytes(plan, samples(options), has_all_pieces));
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

void require_options(const CliOptions& options, const Module& module) {
  if (options.engine == "mpi" && options.own_memory) {
    throw Error("the mpi engine does not support --own-memory");
  }
  leaf_choice(options);
  parse_files(options.load, "--load", module);
  parse_files(options.save, "--save", module);
}

SessionOptions session_options(const CliOptions& options) {
  return {options.threads, options.own_memory, leaf_choice(options)};
}

RunInputs::RunInputs(const CliOptions& options, const LoadedModule& loaded)
    : program(prepare(options, loaded)),
      data(program->plan(), parse_files(options.load, "--load", loaded.module), options.seed) {}

PreparedRun::PreparedRun(const CliOptions& options, const LoadedModule& loaded)
    : options_(options),
      inputs_(options, loaded),
      session_(std::make_unique<Session>(inputs_.program, session_options(options))),
      combine_([](const CheckResult& mine) { return mine; }) {
  place_data();
}

PreparedRun::PreparedRun(const CliOptions& options, RunInputs inputs, std::unique_ptr<Session> session, Combine combine)
    : options_(options), inputs_(std::move(inputs)), session_(std::move(session)), combine_(std::move(combine)) {
  place_data();
}

void PreparedRun::place_data() {
  show_progress(options_, "compiling the leaves");
  session_->place_pieces(extra_bytes(plan(), options_, session_->has_all_pieces()));
  session_->watch(options_.progress);
  show_progress(options_, "placing data");
  for (size_t t = 0; t < plan().tensors.size(); ++t) inputs_.data.place(static_cast<int>(t), session_->store());
  if (!options_.no_check) checker_ = std::make_unique<ResultChecker>(inputs_.data, *session_);
}

void PreparedRun::run_all() {
  for (int rep = 0; rep < options_.reps; ++rep) {
    if (rep > 0) restore_outputs();
    show_progress(options_, fmt::format("running {} of {}", rep + 1, options_.reps), leaf_runs_here());
    if (checker_ && rep + 1 == options_.reps) {
      seconds_.push_back(run_checked());
      continue;
    }
    seconds_.push_back(timed([&] { counts_ = session_->run(); }));
  }
  show_progress(options_, "");
  if (checker_) check_ = combine_(checker_->result());
  std::sort(seconds_.begin(), seconds_.end());
}

// Each process reports what it does itself.
int64_t PreparedRun::leaf_runs_here() const {
  int64_t here = 0;
  for (int64_t p = 0; p < plan().processors; ++p) here += session_->is_here(p) ? 1 : 0;
  return most_leaf_runs(plan()) * here / plan().processors;
}

void PreparedRun::save(const std::string& tensor, const std::string& file) {
  show_progress(options_, "saving " + tensor);
  int index = plan().tensor_index(tensor);
  const Coordinates& shape = plan().tensors[index].owners.shape();
  write_npy(file, session_->store().type(), {shape.begin(), shape.end()}, session_->group(),
            [&](const WriteNpyRect& write) { save_pieces(session_->store().pieces(index), write); });
}

RunReport PreparedRun::report() const {
  std::vector<std::string> leaf_names;
  for (const auto& leaf : inputs_.program->leaves(leaf_choice(options_))) leaf_names.push_back(leaf->description());
  return {options_.engine,
          session_->description(),
          &plan(),
          seconds_,
          check_,
          counts_.bytes_moved,
          counts_.bytes_copied,
          counts_.messages,
          session_->peak_per_processor(),
          counts_.tasks,
          std::move(leaf_names),
          session_->resident_bytes()};
}

void PreparedRun::restore_outputs() {
  std::set<int> outputs;
  for (const StagePlan& s : plan().stages) outputs.insert(s.output);
  for (int t : outputs) inputs_.data.place(t, session_->store());
}

double PreparedRun::timed(const std::function<void()>& run) {
  session_->barrier();
  auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Runs statement by statement and checks each one before the next one changes its operands.
double PreparedRun::run_checked() {
  double taken = 0;
  RunCounts sum;
  for (size_t s = 0; s < plan().stages.size(); ++s) {
    const StagePlan& stage = plan().stages[s];
    std::vector<std::byte> before;
    if (checker_->is_written(stage.output)) before = session_->gather(stage.output);
    if (s > 0) show_progress(options_, fmt::format("running statement {}", s + 1));
    taken += timed([&] { sum += session_->run_stage(s); });
    show_progress(options_, "checking");
    checker_->check(stage, before, samples(options_), options_.seed);
  }
  counts_ = sum;
  return taken;
}

}  // namespace distal::core
