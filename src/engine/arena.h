#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include "plan/memory.h"
#include "store/allocator.h"

namespace distal::core {

// A processor's memory for what a stage acquires and works in. It is kept from run to run, so that a stage that runs
// again finds its buffers where they were; stages run one after another and all begin at its start.
class Arena {
 public:
  Arena(int64_t processor, Allocator& allocator) : processor_(processor), allocator_(allocator) {}
  ~Arena() { give_back(); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Room for so many bytes in so many parts. True if it has moved for that: what pointed into it is void.
  bool reserve(int64_t bytes, int64_t parts);
  void rewind() { used_ = taken_ = 0; }
  std::byte* take(int64_t bytes);

 private:
  void give_back();

  int64_t processor_;
  Allocator& allocator_;
  Block block_;
  int64_t capacity_ = 0;  // with the gaps between parts
  int64_t used_ = 0;      // with these too
  int64_t taken_ = 0;     // without
  int64_t counted_ = 0;   // the most that a stage has taken
};

// Those of all processors.
class Arenas {
 public:
  explicit Arenas(Allocator& allocator) : allocator_(allocator) {}

  // Makes room for what a stage acquires and for its workspaces, at the processors of this process. True if anything
  // that was taken before is void.
  bool begin(const StagePlan& stage, const MemoryNeeds& needs, size_t number,
             const std::function<bool(int64_t)>& is_here);
  Arena& of(int64_t processor);
  void clear() { arenas_.clear(); }

 private:
  Allocator& allocator_;
  std::unordered_map<int64_t, std::unique_ptr<Arena>> arenas_;
};

}  // namespace distal::core
