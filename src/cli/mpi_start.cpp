#include "cli/mpi_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/job.h"
#include "cli/mpi_job.h"
#include "data/npy_writer.h"
#include "support/environment.h"

namespace distal::core {

namespace {

namespace fs = std::filesystem;

// The executable that is linked with MPI, in the folder of this one.
std::string program_with_mpi() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error).parent_path() / "distal-mpi";
  if (fs::exists(path, error)) return path;
  throw Error("this DISTAL was built without MPI, because no MPI was found at build time", {},
              "install libopenmpi-dev and openmpi-bin, or libmpich-dev and mpich, and build again",
              Error::Kind::Resources);
}

// Whether an MPI launcher (of Open MPI, MPICH or Slurm) started this process.
bool is_rank_of_a_job() {
  constexpr const char* kNames[] = {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK", "PMI_FD"};
  return std::any_of(std::begin(kNames), std::end(kNames), [](const char* n) { return !environment(n).empty(); });
}

[[noreturn]] void replace_process(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  throw Error(fmt::format("cannot start {}", command[0]), {}, {}, Error::Kind::Resources);
}

void require_runnable(const CliOptions& options) {
  Job job = job_of(options, load_found(options));
  const Module& module = job.loaded.module;
  require_host(module, options.engine);
  std::shared_ptr<PreparedProgram> program = prepare(options, job.loaded);
  program->needs(true);
  // Throws an Error if a file does not fit.
  const Dataset data(program->plan(), parse_files(options.load, "--load", module), options.seed);
  for (const auto& [tensor, file] : job.saved) require_writable(file);
}

// Sets defaults for Open MPI in the environment; other MPIs ignore them. Allow more ranks than cores, and the root
// user, as in containers. Do not bind ranks to cores, because their threads need all of them.
void set_open_mpi_defaults() {
  for (const char* name :
       {"OMPI_MCA_rmaps_base_oversubscribe", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) {
    setenv(name, "1", 0);
  }
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
  setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
}

// Detaches stdin. No rank reads it, but mpirun would, and take the next commands of a script from its shell.
void detach_stdin() {
  int null = open("/dev/null", O_RDONLY);
  if (null < 0) return;
  dup2(null, STDIN_FILENO);
  close(null);
}

// $DISTAL_MPIRUN, or the mpirun of the MPI that DISTAL was built with.
std::string mpirun() {
  const char* chosen = std::getenv("DISTAL_MPIRUN");
  return chosen ? chosen : DISTAL_MPIEXEC;
}

}  // namespace

void require_single_process() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    int64_t processes = std::atoll(environment(name).c_str());
    if (processes < 2) continue;
    throw Error(
        fmt::format("this is one of {} processes of a job, but the threads engine runs in one process", processes), {},
        "use --engine mpi to run the program on all of them");
  }
}

int start_on_mpi(const CliOptions& options) {
  std::vector<std::string> program{program_with_mpi()};
  program.insert(program.end(), options.arguments.begin(), options.arguments.end());
  if (is_rank_of_a_job()) replace_process(program);
  // Report errors here once, and not from every rank.
  require_runnable(options);
  show_progress(options, "");
  set_open_mpi_defaults();
  pass_terminal(options.terminal);
  detach_stdin();
  std::vector<std::string> command{mpirun(), "-n", std::to_string(std::max(1, options.ranks))};
  command.insert(command.end(), program.begin(), program.end());
  return run_mpi_job(command, options.quiet);
}

}  // namespace distal::core
