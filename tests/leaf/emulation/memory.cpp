#include "leaf/emulation/memory.h"

#include <algorithm>
#include <cstdlib>

namespace emulated_cuda {

namespace {

unsigned launch_number = 0;

const char* verb(Use use) {
  switch (use) {
    case Use::Read: return "reads";
    case Use::Write: return "writes";
    case Use::Add: return "adds to";
  }
  return "";
}

}  // namespace

// ---- users ----

void Users::add(const Thread& thread) {
  const unsigned block = thread.block + 1, number = thread.number + 1;
  if (block_ == kNobody || (block_ == block && interval_ != thread.interval)) {
    block_ = block;
    thread_ = number;
    interval_ = thread.interval;
  } else if (block_ != block) {
    block_ = kSeveral;
  } else if (thread_ != number) {
    thread_ = kSeveral;
  }
}

bool Users::race_with(const Thread& thread) const {
  if (block_ == kNobody) return false;
  return block_ != thread.block + 1 || (interval_ == thread.interval && thread_ != thread.number + 1);
}

std::string Users::text(const Thread& without) const {
  if (block_ == without.block + 1)
    return thread_ == kSeveral ? "another thread" : "thread " + std::to_string(thread_ - 1);
  return block_ == kSeveral ? "another block" : "block " + std::to_string(block_ - 1);
}

// ---- memory ----

void GpuMemory::Free::operator()(void* memory) const { std::free(memory); }

std::vector<GpuMemory*>& GpuMemory::all() {
  static std::vector<GpuMemory*> memories;
  return memories;
}

GpuMemory::GpuMemory(const void* data, std::size_t bytes)
    : begin_(reinterpret_cast<std::uintptr_t>(data)),
      end_(begin_ + bytes),
      elements_(static_cast<Element*>(std::calloc(bytes / kElement + 2, sizeof(Element)))) {
  all().push_back(this);
}

GpuMemory::~GpuMemory() { all().erase(std::find(all().begin(), all().end(), this)); }

GpuMemory* GpuMemory::with(std::uintptr_t at) {
  const auto found = std::find_if(all().begin(), all().end(), [&](const GpuMemory* m) { return m->contains(at, 1); });
  return found == all().end() ? nullptr : *found;
}

void GpuMemory::begin_launch() { ++launch_number; }

GpuMemory::Element& GpuMemory::element(std::uintptr_t at) {
  Element& out = elements_[at / kElement - begin_ / kElement];
  if (out.launch != launch_number) {
    out = {};
    out.launch = launch_number;
  }
  return out;
}

std::string GpuMemory::use(Use use, std::uintptr_t at, std::size_t bytes, const Thread& thread) {
  if (!contains(at, bytes)) return std::string("a thread ") + verb(use) + " memory past the end";
  for (std::uintptr_t a = at; a < at + bytes; a += kElement) {
    Element& e = element(a);
    for (Use other : {Use::Read, Use::Write, Use::Add}) {
      const Users& users = e.users[static_cast<int>(other)];
      if ((use == other && use != Use::Write) || !users.race_with(thread)) continue;
      return "thread " + std::to_string(thread.number) + " of block " + std::to_string(thread.block) + " " + verb(use) +
             " an element that " + users.text(thread) + " " + verb(other) + ", and nothing orders the two";
    }
    e.users[static_cast<int>(use)].add(thread);
  }
  return "";
}

}  // namespace emulated_cuda
