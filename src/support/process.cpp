#include "support/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "support/environment.h"

extern char** environ;

namespace distal::core {

namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// The environment of this process with the variables of `more`, which replace ours of the same name.
std::vector<std::string> merged_environment(const std::vector<std::string>& more) {
  std::vector<std::string> out = more;
  for (char** entry = environ; *entry; ++entry) {
    std::string text = *entry, name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& m : more) replaced = replaced || m.rfind(name, 0) == 0;
    if (!replaced) out.push_back(std::move(text));
  }
  return out;
}

class FileActions {
 public:
  explicit FileActions(const ProcessOptions& options) {
    posix_spawn_file_actions_init(&actions_);
    if (!options.output.empty()) {
      open(STDOUT_FILENO, options.output);
      posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    }
    if (!options.standard_output.empty()) open(STDOUT_FILENO, options.standard_output);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  void open(int descriptor, const std::string& file) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  posix_spawn_file_actions_t actions_;
};

}  // namespace

std::string on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0 ? program : "";
  std::stringstream path(environment("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    std::string candidate = fmt::format("{}/{}", folder, program);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

int run_process(const std::vector<std::string>& command, const ProcessOptions& options) {
  std::vector<std::string> environment = merged_environment(options.environment);
  FileActions actions(options);
  pid_t pid = 0;
  if (posix_spawn(&pid, command[0].c_str(), actions.get(), nullptr, pointers_to(command).data(),
                  pointers_to(environment).data()) != 0) {
    return -1;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace distal::core
