#include "engine/arena.h"

#include "support/error.h"

namespace distal::core {

bool Arena::reserve(int64_t bytes, int64_t blocks) {
  int64_t capacity = bytes + blocks * kAlignment;
  if (capacity <= capacity_) return false;
  give_back();
  block_ = allocator_.allocate(processor_, 0, capacity);
  capacity_ = capacity;
  return true;
}

std::byte* Arena::take(int64_t bytes) {
  int64_t at = used_;
  used_ += aligned(bytes);
  if (used_ > capacity_) throw InternalError("a stage takes more memory than was reserved for it");
  taken_ += bytes;
  if (taken_ > counted_) {
    allocator_.record_allocation(processor_, taken_ - counted_);
    counted_ = taken_;
  }
  return block_.get() + at;
}

void Arena::give_back() {
  if (!block_) return;
  block_ = nullptr;
  allocator_.record_release(processor_, counted_);
  counted_ = 0;
  capacity_ = 0;
}

bool Arenas::begin(const StagePlan& stage, const MemoryNeeds& needs, size_t number,
                   const std::function<bool(int64_t)>& is_here) {
  struct Need {
    int64_t bytes = 0, blocks = 0;
  };
  std::unordered_map<int64_t, Need> by_processor;
  auto add = [&](int64_t p, int64_t bytes) {
    if (bytes == 0 || !is_here(p)) return;
    by_processor[p].bytes += bytes;
    ++by_processor[p].blocks;
  };
  for (const auto& places : needs.buffers[number]) {
    for (const auto& [p, need] : places) add(p, need.bytes * need.depth);
  }
  for (const auto& [p, bytes] : needs.staging_bytes[number]) {
    for (int i = 0; i < 2; ++i) add(p, bytes);  // two buffers, each aligned
  }
  for (int64_t p : stage.places(stage.machine.levels())) add(p, needs.workspace_bytes[number]);
  bool moved = false;
  for (const auto& [p, need] : by_processor) moved = of(p).reserve(need.bytes, need.blocks) || moved;
  for (const auto& [p, arena] : arenas_) arena->rewind();
  return moved;
}

Arena& Arenas::of(int64_t processor) {
  std::unique_ptr<Arena>& arena = arenas_[processor];
  if (!arena) arena = std::make_unique<Arena>(processor, allocator_);
  return *arena;
}

}  // namespace distal::core
