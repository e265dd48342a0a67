#include "cli/mpi_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/prepared_run.h"
#include "support/environment.h"

namespace distal::core {

namespace {

namespace fs = std::filesystem;

// Beside this program.
std::string program_with_mpi() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error).parent_path() / "distal-mpi";
  if (fs::exists(path, error)) return path;
  throw Error("this DISTAL was built without MPI, as none was found then", {},
              "install libopenmpi-dev and openmpi-bin, or libmpich-dev and mpich, and build again",
              Error::Kind::Resources);
}

// What the starters of OpenMPI, MPICH and Slurm tell their processes.
bool is_rank_of_a_job() {
  constexpr const char* kNames[] = {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK", "PMI_FD"};
  return std::any_of(std::begin(kNames), std::end(kNames), [](const char* n) { return !environment(n).empty(); });
}

[[noreturn]] void become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  throw Error(fmt::format("cannot start {}", command[0]), {}, {}, Error::Kind::Resources);
}

void require_runnable(const CliOptions& options) {
  Plan plan = checked_plan(options);
  const Module& module = plan.program->module;
  require_host(module, options.engine);
  require_options(options, module);
  Dataset::check(plan, parse_files(options.load, "--load", module));
  for (const auto& [tensor, file] : parse_files(options.save, "--save", module)) require_writable(file);
}

// More ranks than cores are fine, and so is the user that a container has; ranks have threads that need any core.
// OpenMPI asks for all of this in its environment, others do not look at it.
void say_what_is_fine() {
  for (const char* name :
       {"OMPI_MCA_rmaps_base_oversubscribe", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) {
    setenv(name, "1", 0);
  }
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
  setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
}

// No rank reads what the user types or a script has for its next command, and mpirun would take it all.
void leave_input_alone() {
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0) return;
  dup2(nothing, STDIN_FILENO);
  close(nothing);
}

// The one of the MPI that DISTAL was built with, unless the user has a wrapper for it.
std::string starter() {
  const char* said = std::getenv("DISTAL_MPIRUN");
  return said ? said : DISTAL_MPIEXEC;
}

}  // namespace

void require_alone() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    int64_t processes = std::atoll(environment(name).c_str());
    if (processes < 2) continue;
    throw Error(fmt::format("this is one of {} processes of a job, and the threads engine is one process", processes),
                {}, "--engine mpi lets them run the program together");
  }
}

int start_on_mpi(const CliOptions& options) {
  std::vector<std::string> command;
  std::string program = program_with_mpi();
  if (!is_rank_of_a_job()) {
    // Whatever is wrong is said here, before there are ranks.
    require_runnable(options);
    say_what_is_fine();
    leave_input_alone();
    command = {starter(), "-n", std::to_string(std::max(1, options.ranks))};
  }
  command.push_back(program);
  command.insert(command.end(), options.words.begin(), options.words.end());
  become(command);
}

}  // namespace distal::core
