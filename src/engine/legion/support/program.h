// Runs a program of the executable: places its data, repeats its statements, checks, saves and reports.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "session.h"
#ifdef DISTAL_LEAVES
#include "distal/leaves.h"
#endif

namespace distal_legion {

template <class T>
struct Statement {
  const char* text;
  void (*run)(Session<T>&);
  Tensor* output;
  bool adds;  // to the output's old value, the second access of the check
  TaskID check;
  CheckSpace (*checked)();
  std::string (*leaf)();  // describes how the leaf runs
};

using Nest = void(const Int* extent, const Int* value, void* const* data, const Int* offset, const Int* const* stride,
                  const Int* first, const Int* last);

// Runs a leaf as loops: all of their iterations.
inline void run_nest(Nest* nest, const std::vector<Int>& extent, const std::vector<Int>& value,
                     const std::vector<Operand>& operands) {
  std::vector<void*> data;
  std::vector<Int> offset(operands.size(), 0), first(extent.size(), 0);
  std::vector<const Int*> strides;
  for (const Operand& o : operands) {
    data.push_back(o.data);
    strides.push_back(o.strides);
  }
  nest(extent.data(), value.data(), data.data(), offset.data(), strides.data(), first.data(), extent.data());
}

#ifdef DISTAL_LEAVES
// Runs a leaf by DISTAL's library: BLAS, or code generated for the strides of the operands.
inline void run_leaf(const distal::Leaves& leaves, size_t statement, const std::vector<Int>& value,
                     const std::vector<Operand>& operands) {
  std::vector<distal::Leaves::Operand> all;
  for (const Operand& o : operands) all.push_back({o.data, o.strides});
  leaves.run(statement, value, all);
}
#endif

struct Program {
  const char* name;
  void (*set_params)(Settings&);
  std::vector<const Grid*> (*grids)();
  void (*register_tasks)();
  void (*run)(Context, Runtime*, const Options&);
};

template <class F>
void register_on(Processor::Kind kind, TaskID id, const char* name, const F& preregister, bool replicable = false) {
  TaskVariantRegistrar registrar(task_base() + id, name);
  registrar.add_constraint(ProcessorConstraint(kind));
  if (replicable)
    registrar.set_replicable();
  else
    registrar.set_leaf();
  preregister(registrar, name);
}

template <class T, void (*LEAF)(const LeafCall&)>
void register_leaf(TaskID id, const char* name) {
  register_on(Processor::LOC_PROC, id, name, [](const TaskVariantRegistrar& r, const char* n) {
    Runtime::preregister_task_variant<leaf_task<T, LEAF>>(r, n);
  });
}

// The task of a check: one box of it.
template <class T, void (*CHECK)(CheckBox<T>&, const std::vector<Operand>&)>
Checked<T> check_task(const Task* task, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  const Int* arguments = static_cast<const Int*>(task->args);
  Int count = arguments[0];
  const Int* own = arguments + 1 + task->index_point[0] * (1 + 2 * count);
  CheckBox<T> box{{own + 1, own + 1 + count}, {own + 1 + count, own + 1 + 2 * count}, own[0] != 0};
  std::vector<Operand> operands;
  for (const PhysicalRegion& r : regions) operands.push_back(operand_of<T>(r, runtime));
  CHECK(box, operands);
  return box.out;
}

template <class T, void (*CHECK)(CheckBox<T>&, const std::vector<Operand>&)>
void register_check(TaskID id) {
  register_on(Processor::LOC_PROC, id, "check", [](const TaskVariantRegistrar& r, const char* n) {
    Runtime::preregister_task_variant<Checked<T>, check_task<T, CHECK>>(r, n);
  });
}

// Once, however many programs have this type.
template <class T>
void register_sum() {
  if constexpr (!std::is_arithmetic_v<T>) {
    static const bool done = (Runtime::register_reduction_op<SumOf<T>>(SumOf<T>::kId), true);
    (void)done;
  }
}

template <void (*TASK)(const Task*, const std::vector<PhysicalRegion>&, Context, Runtime*)>
void register_data_task(Processor::Kind kind, TaskID id, const char* name) {
  register_on(kind, id, name,
              [](const TaskVariantRegistrar& r, const char* n) { Runtime::preregister_task_variant<TASK>(r, n); });
}

template <class T>
void register_data_tasks(void (*sum)() = register_sum<T>) {
  register_data_task<place_task<T>>(Processor::LOC_PROC, kPlace, "place");
  register_data_task<hold_task>(Processor::LOC_PROC, kHold, "hold");
  register_data_task<create_task<T>>(Processor::LOC_PROC, kCreate, "create");
  register_data_task<save_task<T>>(Processor::LOC_PROC, kSave, "save");
  register_data_task<copy_task<T>>(Processor::LOC_PROC, kCopy, "copy");
  sum();
}

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The time that the leaves of this process took on GPUs.
struct LeafTimes {
  double device = 0;     // seconds, if they were timed
  double host = 0;       // seconds between the entry of a task's body and its last launch, together
  double host_most = 0;  // of one leaf
  Int leaves = 0;
};

// What a program on GPUs does before and after a repetition whose leaves are timed.
struct LeafTimer {
  void (*start)();
  LeafTimes (*stop)();
};
inline LeafTimer& leaf_timer() {
  static LeafTimer timer{[] {}, [] { return LeafTimes{}; }};
  return timer;
}

// With --paced, every repetition waits for a line of input, and then prints its seconds. The line `leaves` asks for the
// times of the leaves too: they run one after another then.
template <class T>
class Pace {
 public:
  explicit Pace(Session<T>& session) : on_(session.options().paced && session.is_first_process()) {}

  void begin() {
    char line[64] = "";
    if (!on_ || !std::fgets(line, sizeof(line), stdin)) return;
    timed_ = std::strcmp(line, "leaves\n") == 0;
    if (timed_) leaf_timer().start();
  }
  void end(double seconds) {
    if (!on_) return;
    LeafTimes times = timed_ ? leaf_timer().stop() : LeafTimes{};
    std::printf(
        "{\"seconds\": %.9f, \"leaf_seconds\": %.9f, \"host_seconds\": %.9f, \"most_host_seconds\": %.9f, "
        "\"leaves\": %lld}\n",
        seconds, times.device, times.host, times.host_most, static_cast<long long>(times.leaves));
    std::fflush(stdout);
  }

 private:
  bool on_, timed_ = false;
};

constexpr Int kSamples = 1000;  // the elements of an output that are checked, unless all are

// Compares a statement's output with its definition. If the statement adds to its output, `before` is the old output.
template <class T>
void check(Session<T>& session, const Statement<T>& statement, const Tensor& before, Difference& found) {
  CheckSpace space = statement.checked();
  if (statement.adds) space.accesses[1].tensor = &before;
  session.check(statement.check, space, session.options().check == Options::Check::All ? 0 : kSamples, found);
}

// Runs one repetition and returns its seconds. The last repetition also checks and saves the outputs.
template <class T>
double run_statements(Session<T>& session, const std::vector<Statement<T>>& statements, bool last, Difference& found) {
  const Options& options = session.options();
  double taken = 0;
  for (size_t s = 0; s < statements.size(); ++s) {
    Tensor before = *statements[s].output;
    const bool checked = last && options.check != Options::Check::None;
    if (checked && statements[s].adds) {
      session.add(before);
      session.copy(*statements[s].output, before);
    }
    session.finish();
    double start = seconds_now();
    statements[s].run(session);
    session.finish();
    taken += seconds_now() - start;
    if (!last) continue;
    if (checked) check(session, statements[s], before, found);
    if (!options.after.empty()) session.save(*statements[s].output, options.after + "/" + std::to_string(s) + ".npy");
  }
  return taken;
}

// What is reported at the end.
struct Report {
  std::vector<double> seconds;      // by repetition
  Int tasks = 0;                    // of one repetition
  std::vector<std::string> leaves;  // by statement: how its leaf ran
  Difference found;
};

inline void print(const Options& options, const Report& report) {
  const std::vector<double>& seconds = report.seconds;
  const Difference& found = report.found;
  if (options.json) {
    std::string leaves;
    for (const std::string& l : report.leaves) leaves += (leaves.empty() ? "\"" : ", \"") + l + "\"";
    std::printf("{\"seconds\": [");
    for (size_t i = 0; i < seconds.size(); ++i) std::printf("%s%.9f", i == 0 ? "" : ", ", seconds[i]);
    std::printf(
        "], \"tasks\": %lld, \"leaves\": [%s], \"checked\": %lld, \"wrong\": %lld, \"max_relative_error\": %.3e}\n",
        static_cast<long long>(report.tasks), leaves.c_str(), static_cast<long long>(found.checked),
        static_cast<long long>(found.wrong), found.largest);
  } else {
    std::printf("time   %.6f s best of %zu\n", *std::min_element(seconds.begin(), seconds.end()), seconds.size());
    if (options.check != Options::Check::None) {
      std::printf("check  %s, largest relative error %.1e in %lld elements\n", found.wrong == 0 ? "correct" : "WRONG",
                  found.largest, static_cast<long long>(found.checked));
    }
  }
  std::fflush(stdout);
}

inline int& exit_status() {
  static int status = 0;
  return status;
}

template <class T>
void run_all(Context ctx, Runtime* runtime, const Options& options, const std::vector<Tensor*>& tensors,
             const std::vector<Statement<T>>& statements) {
  Session<T> session(ctx, runtime, options);
  for (Tensor* t : tensors) session.add(*t);
  for (const Tensor* t : tensors) session.place(*t);
  Report report;
  // Describing the leaves also makes them, in every process, so that no timed repetition includes that.
  for (const Statement<T>& s : statements) report.leaves.push_back(s.leaf());
  Pace<T> pace(session);
  for (int rep = 0; rep < options.reps; ++rep) {
    if (rep > 0) {
      for (const Statement<T>& s : statements) session.place(*s.output);
    }
    Int before = session.tasks();
    session.finish();
    pace.begin();
    report.seconds.push_back(run_statements(session, statements, rep + 1 == options.reps, report.found));
    pace.end(report.seconds.back());
    report.tasks = session.tasks() - before;
  }
  for (const auto& [name, file] : options.save) {
    auto wanted =
        std::find_if(tensors.begin(), tensors.end(), [&, &n = name](const Tensor* t) { return n == t->name; });
    if (wanted == tensors.end()) fail(2, "there is no tensor " + name);
    session.save(**wanted, file);
  }
  if (session.is_first_process()) print(options, report);
  if (report.found.wrong > 0) exit_status() = 1;
}

// A run of a program, with its options.
struct Run {
  const Program* program;
  Options options;
};

// All programs of the executable.
inline std::vector<const Program*>& programs() {
  static std::vector<const Program*> all;
  return all;
}

// What was asked for, in order.
inline std::vector<Run>& runs() {
  static std::vector<Run> all;
  return all;
}

// The number of the current run of this process.
inline Int& current_run() {
  static Int number = 0;
  return number;
}

// A value that depends on the params, so that a program makes it anew for each run.
template <class V>
class PerRun {
 public:
  template <class Make>
  const V& get(const Make& make) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!value_ || run_ != current_run()) {
      value_.reset(new V(make()));
      run_ = current_run();
    }
    return *value_;
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<const V> value_;
  Int run_ = 0;
};

// Makes a program the current one: its params, grids and task numbers.
inline void make_current(const Run& run) {
  Settings settings(run.options);
  run.program->set_params(settings);
  settings.require_known();
  grids() = run.program->grids();
  auto number = std::find(programs().begin(), programs().end(), run.program) - programs().begin();
  task_base() = static_cast<TaskID>(number) * kTasksOfProgram;
}

inline void top_task(const Task*, const std::vector<PhysicalRegion>&, Context ctx, Runtime* runtime) {
  for (const Run& run : runs()) {
    ++current_run();
    make_current(run);
    for (const Grid* g : grids()) {
      if (!processors(g->gpu).empty()) continue;
      fail(3, "the program runs on GPUs, but Legion was given none; start it with -ll:gpu N");
    }
    run.program->run(ctx, runtime, run.options);
  }
}

inline const Program& choose(const std::string& name) {
  if (name.empty() && programs().size() == 1) return *programs()[0];
  std::string names;
  for (const Program* p : programs()) {
    if (p->name == name) return *p;
    names += std::string(" ") + p->name;
  }
  fail(2, "--program must be one of:" + names);
}

// Registers the tasks of the programs that run, and a sharding functor for each of their grids.
inline void register_programs() {
  std::vector<const Program*> registered;
  size_t shardings = 0;
  for (const Run& run : runs()) {
    make_current(run);
    for (; shardings < grids().size(); ++shardings) {
      Runtime::preregister_sharding_functor(kFirstSharding + static_cast<ShardingID>(shardings),
                                            new GridSharding(static_cast<int>(shardings)));
    }
    if (std::find(registered.begin(), registered.end(), run.program) != registered.end()) continue;
    run.program->register_tasks();
    registered.push_back(run.program);
  }
}

inline int start(int argc, char** argv, const std::vector<const Program*>& all) {
  programs() = all;
  for (const Options& options : parse_runs(argc, argv)) runs().push_back({&choose(options.program), options});
  register_programs();
  Runtime::preregister_projection_functor(kStepProjection, new StepProjection);
  Runtime::preregister_sharding_functor(kShardingOnCpus, new CpuSharding);
  // Several processes of one MPI job find each other through MPI.
  if (std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMI_SIZE")) setenv("REALM_UCP_BOOTSTRAP_MODE", "mpi", 0);
  task_base() = 0;
  Runtime::set_top_level_task_id(kTop);
  register_on(
      Processor::LOC_PROC, kTop, runs()[0].program->name,
      [](const TaskVariantRegistrar& r, const char* n) { Runtime::preregister_task_variant<top_task>(r, n); }, true);
  Runtime::add_registration_callback(register_mappers);
  int status = Runtime::start(argc, argv);
  return status != 0 ? status : exit_status();
}

}  // namespace distal_legion
