#include "cli/mpi_job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "cli/progress_line.h"
#include "support/cache.h"
#include "support/environment.h"
#include "support/error.h"

namespace distal::core {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kProgressVariable = "DISTAL_PROGRESS_FILE";
constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr auto kPatience = std::chrono::milliseconds(1500);  // of a launcher that was asked to end

volatile std::sig_atomic_t caught_signal = 0;

void catch_signal(int signal) { caught_signal = signal; }

void catch_signals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    action.sa_handler = catch_signal;
    sigaction(signal, &action, nullptr);
  }
}

// The process and all that it started, by their parents.
std::set<pid_t> family_of(pid_t process) {
  std::map<pid_t, pid_t> parents;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    pid_t id = std::atoi(entry.path().filename().c_str());
    if (id <= 0) continue;
    std::string stat = read_text(entry.path() / "stat");
    std::istringstream rest(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
    std::string state;
    if (pid_t parent = 0; rest >> state >> parent) parents[id] = parent;
  }
  std::set<pid_t> out{process};
  for (size_t before = 0; before != out.size();) {
    before = out.size();
    for (const auto& [child, parent] : parents) {
      if (out.count(parent) > 0) out.insert(child);
    }
  }
  return out;
}

// Starts a program that ends with this process.
pid_t start(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::array<int, 2> failed{};
  if (pipe2(failed.data(), O_CLOEXEC) != 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    execvp(words[0], words.data());
    [[maybe_unused]] ssize_t written = write(failed[1], "x", 1);
    _exit(127);
  }
  close(failed[1]);
  char byte = 0;
  bool started = child > 0 && read(failed[0], &byte, 1) == 0;
  close(failed[0]);
  return started ? child : -1;
}

// A file for the progress of the first rank.
class ProgressFile {
 public:
  ProgressFile() {
    std::string name = (fs::temp_directory_path() / "distal-progress-XXXXXX").string();
    int file = mkstemp(name.data());
    if (file < 0) return;
    close(file);
    path_ = name;
    setenv(kProgressVariable, name.c_str(), 1);
  }
  ~ProgressFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;
  std::string text() const { return path_.empty() ? "" : read_text(path_); }

 private:
  std::string path_;
};

// The launcher's status if it has ended.
std::optional<int> status_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, WNOHANG) != child) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Asks the launcher to end its ranks. If it takes too long, ends all of them.
void end_job(pid_t child) {
  std::set<pid_t> family = family_of(child);
  kill(child, SIGTERM);
  for (Clock::time_point start = Clock::now(); Clock::now() - start < kPatience;) {
    if (status_of(child)) break;
    std::this_thread::sleep_for(kPoll);
  }
  family.erase(child);  // the process that has ended may have passed on its number
  for (pid_t process : family) kill(process, SIGKILL);
  if (waitpid(child, nullptr, WNOHANG) == 0) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

}  // namespace

std::string job_progress_file() { return environment(kProgressVariable); }

int run_mpi_job(const std::vector<std::string>& command, bool quiet) {
  std::optional<ProgressFile> file;
  std::optional<ProgressLine> line;
  if (shows_progress(quiet)) file.emplace();
  catch_signals();
  pid_t child = start(command);
  if (child < 0) {
    throw Error(fmt::format("cannot start {}", command[0]), {},
                "DISTAL_MPIRUN names a launcher without options, as in DISTAL_MPIRUN=mpirun", Error::Kind::Resources);
  }
  if (file) line.emplace([&] { return file->text(); }, show_on_terminal);
  while (caught_signal == 0) {
    if (std::optional<int> status = status_of(child)) return *status;
    std::this_thread::sleep_for(kPoll);
  }
  end_job(child);
  line.reset();
  fmt::print(stderr, "interrupted\n");
  return 128 + caught_signal;
}

}  // namespace distal::core
