#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include "plan/memory.h"
#include "store/allocator.h"

namespace distal::core {

// One processor's memory for the buffers and workspaces of a stage. It is kept from run to run, so that a stage that is
// run again has its buffers at the same addresses. Stages run one after another and share the memory.
class Arena {
 public:
  Arena(int64_t processor, Allocator& allocator) : processor_(processor), allocator_(allocator) {}
  ~Arena() { give_back(); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Makes the memory large enough for `bytes` in `blocks` aligned blocks. True if it moved: earlier pointers are
  // invalid.
  bool reserve(int64_t bytes, int64_t blocks);
  void rewind() { used_ = taken_ = 0; }
  std::byte* take(int64_t bytes);

 private:
  void give_back();

  int64_t processor_;
  Allocator& allocator_;
  Block block_;
  int64_t capacity_ = 0;  // including alignment gaps
  int64_t used_ = 0;      // including alignment gaps
  int64_t taken_ = 0;     // without gaps
  int64_t counted_ = 0;   // the largest `taken_` so far
};

// The arenas of all processors.
class Arenas {
 public:
  explicit Arenas(Allocator& allocator) : allocator_(allocator) {}

  // Reserves and rewinds the memory of this process's processors for a stage. True if some arena moved: earlier
  // pointers into it are invalid.
  bool begin(const StagePlan& stage, const MemoryNeeds& needs, size_t number,
             const std::function<bool(int64_t)>& is_here);
  Arena& of(int64_t processor);
  void clear() { arenas_.clear(); }

 private:
  Allocator& allocator_;
  std::unordered_map<int64_t, std::unique_ptr<Arena>> arenas_;
};

}  // namespace distal::core
