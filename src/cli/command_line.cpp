#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <optional>

#include "cli/command_words.h"
#include "cli/mpi_job.h"
#include "cli/options.h"
#include "cli/progress_line.h"
#include "cli/usage_error.h"
#include "session/session.h"

namespace distal::core {

namespace {

void add_values(CLI::App* app, CliOptions& o) {
  app->add_option("--set", o.set, "values of params, such as ni=512,gx=4")->take_all();
  app->add_option("--type", o.type, "element type: " + element_type_names());
  app->add_flag("--quiet", o.quiet, "show no progress on the terminal");
}

void add_program(CLI::App* app, CliOptions& o) {
  app->add_option("FILE", o.file, "a .distal program")->required();
  add_values(app, o);
}

// The options of every command that runs a program.
void add_running(CLI::App* run, CliOptions& o) {
  run->add_option("--threads", o.threads, "threads per process; 0: one per core")
      ->check(CLI::Range(0, kMaxThreads))
      ->capture_default_str();
  run->add_option("--reps", o.reps, "number of runs")->check(CLI::Range(1, 1000000))->capture_default_str();
  run->add_option("--leaf", o.leaf, "how leaves run")
      ->check(CLI::IsMember({"auto", "generated", "interpreted"}))
      ->capture_default_str();
  CLI::Option* check = run->add_flag("--check", o.check, "check every element of the result, not a sample");
  run->add_flag("--no-check", o.no_check, "do not check the result")->excludes(check);
  run->add_flag("--json", o.json, "print one JSON object on stdout");
  run->add_flag("--own-memory", o.own_memory,
                "give every processor memory of its own, so that every acquire is a copy");
  run->add_option("--seed", o.seed, "seed of the random data")->capture_default_str();
  run->add_option("--load", o.load, "load a tensor from a NumPy file, such as B=b.npy")->take_all();
  run->add_option("--save", o.save, "save a tensor to a NumPy file, such as A=a.npy")->take_all();
}

void add_engine(CLI::App* run, CliOptions& o, const std::string& what) {
  run->add_option("--engine", o.engine, what)->capture_default_str();
  run->add_option("--ranks", o.ranks, "number of processes, for an engine of several; default: 1")
      ->check(CLI::Range(1, 4096));
}

// The options of the search for what a program leaves out. `engine_too`: the command has no --engine of its own.
void add_search(CLI::App* app, CliOptions& o, bool engine_too) {
  app->add_option("--for", o.goal,
                  "what shall be least where something is left out: the modelled time, or the bytes that a processor "
                  "exchanges")
      ->check(CLI::IsMember({"time", "bytes"}))
      ->capture_default_str();
  app->add_option("--memory", o.memory, "the most bytes that a processor may need; default: no limit")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 62));
  app->add_option("--model", o.model, "a file with the speed of the processors, instead of the engine's");
  if (!engine_too) return;
  app->add_option("--engine", o.engine, "the engine whose speed is modelled: threads, mpi, legion")
      ->check(CLI::IsMember({"threads", "mpi", "legion"}))
      ->capture_default_str();
}

void add_run(CLI::App& app, CliOptions& o) {
  CLI::App* run =
      app.add_subcommand("run", "compile a program, place random or loaded data, run it and check the result");
  add_program(run, o);
  add_engine(run, o, "engine to run on: threads, mpi, legion");
  add_running(run, o);
  add_search(run, o, false);
  run->add_flag("--strict-order", o.strict_order,
                "add sums in the order of the schedule's loops; use library kernels only where substitute asks for "
                "them. Cannot be combined with --leaf generated or interpreted");
}

void add_redistribute(CLI::App& app, CliOptions& o) {
  CLI::App* redistribute = app.add_subcommand("redistribute", "move a tensor of a program into another format");
  add_program(redistribute, o);
  redistribute->add_option("TENSOR", o.tensor, "the tensor; the program gives its current format")->required();
  redistribute
      ->add_option("FORMAT", o.format,
                   "the new format, as after the colon of a declaration: 'xy -> xy cyclic(x = 64) on Grid(2, 2)'")
      ->required();
  add_engine(redistribute, o, "engine to run on: threads, mpi");
  add_running(redistribute, o);
  add_search(redistribute, o, false);
  redistribute->add_flag("--explain", o.explain,
                         "show the program that would move the tensor, and its cost; run nothing");
}

void add_explain(CLI::App& app, CliOptions& o) {
  CLI::App* explain = app.add_subcommand("explain", "show what a program would do, without running it");
  add_program(explain, o);
  add_search(explain, o, true);
  CLI::Option* json = explain->add_flag("--json", o.json, "print one JSON object on stdout");
  CLI::Option* dump =
      explain->add_option("--dump", o.dump, "print only the result of one pass, or the messages of each step");
  dump->excludes(json)->check(
      CLI::IsMember({"module", "placement", "schedule", "program", "plan", "messages", "leaf"}));
  CLI::Option* ranks = explain->add_option("--ranks", o.ranks,
                                           "report the peak memory of the mpi engine on this many ranks, with "
                                           "prefetch; default: of processors without shared memory or prefetch");
  ranks->check(CLI::Range(1, 4096))->excludes(dump);
  explain
      ->add_option("--nodes", o.nodes,
                   "number of nodes, which share the ranks evenly; ranks of a node use each other's pieces in place")
      ->check(CLI::Range(1, 4096))
      ->needs(ranks)
      ->capture_default_str();
}

void add_draw(CLI::App& app, CliOptions& o) {
  CLI::App* draw = app.add_subcommand("draw", "draw where data lives, what moves and what is computed, step by step");
  add_program(draw, o);
  add_search(draw, o, true);
  CLI::Option* output = draw->add_option("-o,--output", o.output,
                                         "the file to write: .html for a page with all views, .svg for one view");
  draw->add_flag("--json", o.json, "print the data of the pictures as one JSON object on stdout")->excludes(output);
  draw->add_option("--view", o.view, "the view of an .svg")
      ->check(CLI::IsMember({"data", "film", "plan", "memory", "choice"}))
      ->capture_default_str();
  draw->add_option("--step", o.step, "the step of an .svg, counted from 1 over all statements; 0: the last")
      ->check(CLI::Range(0, 100'000'000))
      ->capture_default_str();
  draw->add_option("--processor", o.processor, "the number of the processor that an .svg shows; default: all")
      ->check(CLI::Range(int64_t{0}, kMaxProcessors));
  draw->add_option("--axes", o.axes, "the indices that the film shows as axes, such as i,j,k");
}

void add_optimize(CLI::App& app, CliOptions& o) {
  CLI::App* optimize = app.add_subcommand(
      "optimize", "find the schedules and formats that a program leaves out, and print it with them");
  add_program(optimize, o);
  add_search(optimize, o, true);
  optimize->add_option("-o,--output", o.output, "the file to write the program to");
  optimize->add_flag("--json", o.json, "print one JSON object on stdout");
}

void add_emit(CLI::App& app, CliOptions& o) {
  CLI::App* emit = app.add_subcommand("emit", "write a program as C++ for another runtime");
  emit->add_option("FILE", o.files, "a .distal program; several become one executable")->required();
  emit->add_option("--target", o.target, "the runtime: legion")->capture_default_str();
  emit->add_option("-o,--output", o.output, "the folder to write to")->required();
  add_values(emit, o);
  add_search(emit, o, true);
}

void add_check(CLI::App& app, CliOptions& o) {
  CLI::App* check = app.add_subcommand("check", "parse and verify a program only");
  add_program(check, o);
  add_search(check, o, true);
}

void add_words(CLI::App& app, CliOptions& o) {
  CLI::App* completion = app.add_subcommand("completion", "print the completion of a shell, to be sourced by it");
  completion->add_option("SHELL", o.shell, "the shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.add_subcommand("manual", "print the manual page; `man -l` shows it");
}

int print_text(const std::string& text) {
  fmt::print("{}", text);
  return 0;
}

int dispatch(const CLI::App& app, const CliOptions& options, const RunOnMpi& run_on_mpi) {
  if (app.got_subcommand("run")) return run_command(options, run_on_mpi);
  if (app.got_subcommand("explain")) return explain_command(options);
  if (app.got_subcommand("draw")) return draw_command(options);
  if (app.got_subcommand("optimize")) return optimize_command(options);
  if (app.got_subcommand("emit")) return emit_command(options);
  if (app.got_subcommand("check")) return check_command(options);
  if (app.got_subcommand("redistribute")) return redistribute_command(options, run_on_mpi);
  if (app.got_subcommand("completion")) return print_text(completion_script(app, options.shell));
  return print_text(manual_page(app));
}

void parse(CLI::App& app, int argc, const char* const* argv) {
  require_known_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) throw;  // --help or --version
    throw usage_error(app, e);
  }
}

// Shows the progress on the terminal, or to the process that started this job.
class Watched {
 public:
  Watched(const Progress& progress, bool quiet, bool is_reporter) {
    auto source = [&progress] { return progress_text(progress.state()); };
    if (!is_reporter) return;
    if (std::string file = job_progress_file(); !file.empty()) {
      line_.emplace(source, [file](const std::string& text) { std::ofstream(file) << text; });
    } else if (shows_progress(quiet)) {
      line_.emplace(source, show_on_terminal);
    }
  }

  // Removes the line of progress. With `from_stdout`, also by writing to stdout, because the process that shows the
  // line removes it only after a while.
  void hide(bool from_stdout) {
    if (line_) line_->hide();
    if (line_ && from_stdout) fmt::print("\r\033[K");
  }

 private:
  std::optional<ProgressLine> line_;
};

}  // namespace

int main_command(int argc, const char* const* argv, const RunOnMpi& run_on_mpi, bool is_reporter) {
  CliOptions options;
  options.arguments.assign(argv + std::min(argc, 1), argv + argc);
  CLI::App app("DISTAL, the distributed tensor algebra compiler", "distal");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text, "print the version, and which BLAS is used");
  app.footer(
      "Exit status: 0 success, 1 the check found a wrong result, 2 the input is wrong, 3 resources are missing, 130 "
      "interrupted.");
  add_run(app, options);
  add_explain(app, options);
  add_draw(app, options);
  add_optimize(app, options);
  add_emit(app, options);
  add_check(app, options);
  add_redistribute(app, options);
  add_words(app, options);
  try {
    parse(app, argc, argv);
    options.command = app.get_subcommands().front()->get_name();
    Progress progress;
    options.progress = &progress;
    bool is_rank = static_cast<bool>(run_on_mpi);
    if (!options.json) options.terminal = terminal_of_stdout(is_rank);
    Watched watched(progress, options.quiet, is_reporter);
    options.hide_progress = [&] { watched.hide(is_rank && options.terminal.has_value()); };
    return dispatch(app, options, run_on_mpi);
  } catch (const CLI::ParseError& e) {
    return is_reporter ? app.exit(e, std::cout, std::cerr) : 0;  // --help or --version
  } catch (...) {
    auto [text, status] = failure_of(std::current_exception());
    if (is_reporter) fmt::print(stderr, "{}\n", text);
    return status;
  }
}

}  // namespace distal::core
