#pragma once

#include <string>

namespace distal::core {

// While this object lives, a file of that name is not finished: remove_unfinished_files() removes it.
class UnfinishedFile {
 public:
  UnfinishedFile() = default;
  explicit UnfinishedFile(const std::string& path);
  ~UnfinishedFile() { finish(); }
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(UnfinishedFile&& other) noexcept;

  void finish() noexcept;

 private:
  char* path_ = nullptr;
};

// For a signal handler that ends the process.
void remove_unfinished_files() noexcept;

}  // namespace distal::core
