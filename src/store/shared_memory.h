#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace distal::core {

// Memory that several processes of one node map, on huge pages if the system has them. It starts at zero and is not a
// file in any folder, so the system frees it with the last process that maps it, however that process ends.
class SharedMemory {
 public:
  // Null if the system has too little memory or refuses.
  static std::unique_ptr<SharedMemory> make(int64_t bytes);
  // Maps the memory of another process, by what its name() and id() return. Null if that fails.
  static std::unique_ptr<SharedMemory> open(const std::string& name, int64_t bytes, uint64_t id);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // The path by which other processes of the same user can open the memory, as long as the process that made it keeps
  // it.
  const std::string& name() const { return name_; }
  // In a container with its own process numbers, the name may lead to other memory. That has a different id.
  uint64_t id() const { return id_; }
  int64_t bytes() const { return bytes_; }
  std::byte* data() const { return data_; }

 private:
  SharedMemory(std::string name, int file, int64_t bytes);
  bool map();
  bool reserve();
  void close_file();

  std::string name_;
  int file_;  // -1 once closed
  int64_t bytes_;
  uint64_t id_;
  std::byte* data_ = nullptr;
};

}  // namespace distal::core
