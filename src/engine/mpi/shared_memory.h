#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace distal::core {

// Memory that several processes of one node map, on huge pages where the system has them. It is gone with the last of
// them that has it.
class SharedMemory {
 public:
  // Null where it cannot be had.
  static std::unique_ptr<SharedMemory> make(int64_t bytes);
  static std::unique_ptr<SharedMemory> open(const std::string& name, int64_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  const std::string& name() const { return name_; }  // for others to open it
  std::byte* data() const { return data_; }
  // Nobody opens it any more. Whoever made it says so when all have.
  void hide();
  // Takes the memory from the system, which otherwise would end a process that writes where none is left.
  bool take();

 private:
  SharedMemory(std::string name, int file, int64_t bytes) : name_(std::move(name)), file_(file), bytes_(bytes) {}
  bool map();

  std::string name_;
  int file_;
  int64_t bytes_;
  std::byte* data_ = nullptr;
};

}  // namespace distal::core
