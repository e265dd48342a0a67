#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace distal::core {

// Memory that several processes of one node map, on huge pages where the system has them. It begins at zero, has no
// name in any folder, and is gone with the last process that maps it, however that ends.
class SharedMemory {
 public:
  // Null where it cannot be had.
  static std::unique_ptr<SharedMemory> make(int64_t bytes);
  static std::unique_ptr<SharedMemory> open(const std::string& name, int64_t bytes, uint64_t id);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  const std::string& name() const { return name_; }  // for other processes of the same user, as long as this one has it
  // In a container with processes of its own the name may be that of other memory, which has another number.
  uint64_t id() const { return id_; }
  int64_t bytes() const { return bytes_; }
  std::byte* data() const { return data_; }

 private:
  SharedMemory(std::string name, int file, int64_t bytes);
  bool map();
  bool take();
  void close_file();

  std::string name_;
  int file_;  // -1: others' is closed
  int64_t bytes_;
  uint64_t id_;
  std::byte* data_ = nullptr;
};

}  // namespace distal::core
