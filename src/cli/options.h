#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "distal/progress.h"
#include "lang/int_expr.h"
#include "lang/module.h"
#include "session/prepared_program.h"
#include "support/process_group.h"
#include "tune/find.h"

namespace distal::core {

// The command line, parsed.
struct CliOptions {
  std::vector<std::string> arguments;           // argv without the program's name
  Progress* progress = nullptr;                 // null: not shown
  std::function<void()> hide_progress = [] {};  // before something else is printed
  bool quiet = false;
  std::optional<Terminal> terminal;  // of stdout
  std::string command;               // the name of the command
  std::string file;
  std::vector<std::string> set;  // "ni=512,gx=4"
  std::string engine = "threads";
  std::string leaf = "auto";
  bool strict_order = false;
  int threads = 0;
  int ranks = 0;  // 0: not given
  int nodes = 1;  // the nodes that share the ranks; explain
  int reps = 3;
  std::string type;
  bool check = false;
  bool no_check = false;
  bool json = false;
  bool own_memory = false;
  uint64_t seed = 1;
  std::vector<std::string> load;  // "B=b.npy"
  std::vector<std::string> save;
  std::string dump;
  std::string tensor, format;  // redistribute
  bool explain = false;
  std::string shell;               // completion
  std::vector<std::string> files;  // emit
  std::string target = "legion", output;
  std::string view = "film", axes;  // draw
  int64_t step = 1, processor = -1;

  std::string goal = "time", model;  // of the search
  int64_t memory = 0;                // bytes per processor; 0: not given
};

// How many elements of an output are checked; 0: all.
inline int64_t samples(const CliOptions& options) { return options.check ? 0 : 1000; }

// Shows what is done now. An empty text: nothing.
inline void show_progress(const CliOptions& options, const std::string& what, int64_t total = 0) {
  if (options.progress) options.progress->begin(what, total);
}

// Prints a text with marks on stdout.
void show_text(const CliOptions& options, const std::string& text);

// Parses "a=1,b=2". Throws an Error for anything else.
Bindings parse_settings(const std::vector<std::string>& settings);

// Parses "B=b.npy", given once per tensor. Returns the file names by tensor; those of --save are different.
std::map<std::string, std::string> parse_files(const std::vector<std::string>& words, const std::string& option,
                                               const Module& module);

// Throws an Error that lists the tensors of the program. `where` begins the message.
[[noreturn]] void refuse_unknown_tensor(const Module& module, const std::string& name, const std::string& where = {});

// The element type that --type names. Throws an Error if there is no such type.
ElementType parse_type_option(const std::string& name);

// The program of the command line and the values of its params, validated.
struct LoadedModule {
  Module module;
  Bindings params;
  std::vector<FoundStatement> found{};  // the statements of which find_left_out found something
  std::vector<std::string> left{};      // the others that leave something out, each with the reason
};
// As it is written.
LoadedModule load_module(const CliOptions& options);
// With what it leaves out.
LoadedModule load_found(const CliOptions& options);

// Compiles and plans it.
std::shared_ptr<PreparedProgram> prepare(const CliOptions& options, const LoadedModule& loaded);

// Prints what a program that leaves nothing out would do. Returns the exit status.
int explain(const CliOptions& options, const LoadedModule& loaded);

// Runs a program on the ranks of this job. Returns the exit status.
using RunOnMpi = std::function<int(const CliOptions& options)>;

// Loads, plans and verifies the program of the command line.
std::shared_ptr<PreparedProgram> checked_program(const CliOptions& options);

// The commands. Each returns the exit status.
int run_command(const CliOptions& options, const RunOnMpi& run_on_mpi);
int explain_command(const CliOptions& options);
int draw_command(const CliOptions& options);
int optimize_command(const CliOptions& options);
int emit_command(const CliOptions& options);
int check_command(const CliOptions& options);
int redistribute_command(const CliOptions& options, const RunOnMpi& run_on_mpi);

// What --version prints. It names the BLAS, because results and times depend on it.
std::string version_text();

// Parses the command line and runs its command. Prints errors to stderr and returns the exit status. The executable
// that is linked with MPI passes `run_on_mpi`; the other one starts that executable. Of several processes with the same
// command line only the reporter prints what is wrong with it.
int main_command(int argc, const char* const* argv, const RunOnMpi& run_on_mpi = {}, bool is_reporter = true);

}  // namespace distal::core
