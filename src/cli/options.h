#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lang/int_expr.h"
#include "lang/module.h"
#include "plan/plan.h"

namespace distal::core {

// What the command line said.
struct CliOptions {
  std::vector<std::string> words;  // all of it, without the program's name
  std::string file;
  std::vector<std::string> set;  // "ni=512,gx=4"
  std::string engine = "threads";
  std::string leaf = "auto";
  bool strict_order = false;
  int threads = 0;
  int ranks = 0;  // 0: not said
  int nodes = 1;  // that have the ranks
  int reps = 3;
  std::string type;
  bool check = false;
  bool json = false;
  bool own_memory = false;
  uint64_t seed = 1;
  std::vector<std::string> load;  // "B=b.npy"
  std::vector<std::string> save;
  std::string dump;
  std::string tensor, format;  // redistribute
  bool explain = false;
  std::vector<std::string> files;  // emit
  std::string target = "legion", output;

  int64_t ni = 0, nj = 0, nk = 0, processors = 0, bytes_per_processor = 0;  // plan cosma
};

// How many elements of an output are checked; 0: all.
inline int64_t samples(const CliOptions& options) { return options.check ? 0 : 1000; }

// "a=1,b=2" as values by name; anything else is an Error that shows what is legal.
Bindings parse_settings(const std::vector<std::string>& settings);

// "B=b.npy" as file names by tensor.
std::map<std::string, std::string> parse_files(const std::vector<std::string>& words, const std::string& option,
                                               const Module& module);

// The element type that --type names.
ElementType parse_type_option(const std::string& name);

// The program of the command line with its params: parsed, typed, bound and validated.
struct LoadedModule {
  Module module;
  Bindings params;
};
LoadedModule load_module(const CliOptions& options);

// Shows what a program would do.
int explain(const CliOptions& options, const LoadedModule& loaded);

// Runs a program on the ranks of this job; the exit status.
using RunOnMpi = std::function<int(const CliOptions& options)>;

// The program of the command line; one that cannot be run is refused.
Plan checked_plan(const CliOptions& options);

// The commands; each returns the exit status.
int run_command(const CliOptions& options, const RunOnMpi& run_on_mpi);
int explain_command(const CliOptions& options);
int emit_command(const CliOptions& options);
int check_command(const CliOptions& options);
int redistribute_command(const CliOptions& options);
int plan_cosma_command(const CliOptions& options);

// What --version prints: also which BLAS there is, since results and times depend on it.
std::string version_text();

// Parses the command line and does what it says. Errors are printed on stderr and become the exit status. A program
// that is linked with MPI says how to run on it; another one starts that program. Of several processes with the same
// words one `speaks`, and says what is wrong with them.
int main_command(int argc, const char* const* argv, const RunOnMpi& run_on_mpi = {}, bool speaks = true);

}  // namespace distal::core
