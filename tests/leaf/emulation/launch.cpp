// Runs the blocks of a launch, in a random order. Every thread of a block is a fiber. Fibers switch where threads of a
// GPU wait for one another, in an order that a seed chooses.

#include <gtest/gtest.h>
#include <ucontext.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

#include "leaf/emulation/cuda.h"
#include "leaf/emulation/memory.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulated_cuda {

Place place;

namespace {

// Whether a thread runs the kernel's own code.
bool in_kernel = false;

// While it lives, the running thread is not in the kernel's own code.
class OutsideKernel {
 public:
  OutsideKernel() { in_kernel = false; }
  ~OutsideKernel() { in_kernel = true; }
};

int library_calls = 0;  // that run

// Switches between stacks. Tells the address sanitizer about it.
class Stack {
 public:
  static constexpr size_t kBytes = 128 << 10;

  Stack() : memory_(new char[kBytes]) {}

  bool contains(uintptr_t at) const { return at - reinterpret_cast<uintptr_t>(memory_.get()) < kBytes; }

  void begin(void (*enter)(), ucontext_t* then) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = memory_.get();
    context_.uc_stack.ss_size = kBytes;
    context_.uc_link = then;
    makecontext(&context_, enter, 0);
  }
  // Called by the scheduler.
  void resume(ucontext_t& scheduler) {
#ifdef __SANITIZE_ADDRESS__
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, memory_.get(), kBytes);
    swapcontext(&scheduler, &context_);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
    swapcontext(&scheduler, &context_);
#endif
  }
  // Called by the fiber: first when it begins, and to let the scheduler go on.
  void begun() {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_, &scheduler_bytes_);
#endif
  }
  void leave(ucontext_t& scheduler) {
#ifdef __SANITIZE_ADDRESS__
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, scheduler_, scheduler_bytes_);
    swapcontext(&context_, &scheduler);
    __sanitizer_finish_switch_fiber(fake, &scheduler_, &scheduler_bytes_);
#else
    swapcontext(&context_, &scheduler);
#endif
  }
  void end() {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(nullptr, scheduler_, scheduler_bytes_);
#endif
  }

 private:
  std::unique_ptr<char[]> memory_;
  ucontext_t context_;
  const void* scheduler_ = nullptr;
  size_t scheduler_bytes_ = 0;
};

// The memory that a launch gives each block. It holds garbage at first. Bytes around it show whether a kernel writes
// past its ends.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes) : all_(bytes + 2 * kAround, kGarbage), memory_(all_.data() + kAround, bytes) {}

  unsigned char* data() { return all_.data() + kAround; }

  void check() const {
    for (size_t b = 0; b < kAround; ++b) {
      if (all_[b] != kGarbage || all_[all_.size() - 1 - b] != kGarbage) {
        throw std::runtime_error("a block writes past its shared memory");
      }
    }
  }

 private:
  static constexpr size_t kAround = 64;
  static constexpr unsigned char kGarbage = 0xff;

  std::vector<unsigned char> all_;
  GpuMemory memory_;
};

// The fibers of a block.
class Block {
 public:
  Block(const Launch& launch, unsigned number, std::mt19937& random)
      : launch_(launch), number_(number), shared_(launch.shared_bytes), random_(random), fibers_(launch.threads) {
    while (stacks().size() < launch.threads) stacks().emplace_back();
    current() = this;
  }
  ~Block() { current() = nullptr; }

  static Block*& current() {
    static Block* block = nullptr;
    return block;
  }

  void run() {
    place.block.x = number_;
    for (unsigned f = 0; f < fibers_.size(); ++f) stacks()[f].begin(enter, &scheduler_);
    for (std::vector<unsigned> ready = those(Fiber::Ready); !ready.empty() && error_.empty();
         ready = those(Fiber::Ready)) {
      choose_warp(ready);
      for (size_t left = ready.size(); left > 0 && error_.empty(); --left) {
        std::swap(ready[random_() % left], ready[left - 1]);
        place.thread.x = running_ = ready[left - 1];
        stacks()[running_].resume(scheduler_);
      }
    }
    if (!error_.empty()) throw std::runtime_error(error_);
    if (those(Fiber::Done).size() < fibers_.size()) {
      throw std::runtime_error("some threads wait for others that never come");
    }
    shared_.check();
  }

  unsigned char* shared_memory() { return shared_.data(); }

  // __syncthreads() of a line.
  void wait_for_block(int line) {
    Fiber& f = fibers_[running_];
    f.line = line;
    f.state = Fiber::AtBarrier;
    release_block();
    wait();
  }

  // A shuffle: every thread of the mask gives a value and gets that of another thread.
  unsigned shuffle(unsigned mask, unsigned value, unsigned source) {
    Fiber& f = fibers_[running_];
    if ((mask >> (running_ % kWarp) & 1) == 0) fail("a thread shuffles with a mask that it is not in");
    if ((mask >> source & 1) == 0) fail("a thread reads from one that is not in the mask");
    f.mask = mask;
    f.value = value;
    f.source = source;
    f.state = Fiber::AtShuffle;
    release_warp(running_ / kWarp * kWarp);
    wait();
    return f.value;
  }

  // The running thread uses memory. Ends the launch with an error if it may not.
  void use(Use use, uintptr_t at, size_t bytes) {
    if (stacks()[running_].contains(at)) return;
    if (use == Use::Read &&
        (is_inside(at, bytes, &place, sizeof(place)) || is_inside(at, bytes, launch_.call, launch_.call_bytes))) {
      return;
    }
    GpuMemory* memory = GpuMemory::with(at);
    const std::string error = memory ? memory->use(use, at, bytes, {number_, running_, interval_})
                                     : "a thread uses memory that is not the GPU's";
    if (!error.empty()) stop(error);
  }

  // Ends the launch with an error.
  void stop(const std::string& error) {
    fail(error);
    fibers_[running_].state = Fiber::Stopped;
    wait();
  }

 private:
  struct Fiber {
    enum State { Ready, AtBarrier, AtShuffle, Stopped, Done } state = Ready;
    int line = 0;
    unsigned mask = 0, value = 0, source = 0;
  };

  static std::vector<Stack>& stacks() {
    static std::vector<Stack> all;
    return all;
  }

  static bool is_inside(uintptr_t at, size_t bytes, const void* memory, size_t all_bytes) {
    const uintptr_t offset = at - reinterpret_cast<uintptr_t>(memory);
    return offset < all_bytes && offset + bytes <= all_bytes;
  }

  static void enter() {
    Block& block = *current();
    Stack& stack = stacks()[block.running_];
    stack.begun();
    in_kernel = true;
    block.launch_.run_thread(block.launch_.call);
    in_kernel = false;
    block.fibers_[block.running_].state = Fiber::Done;
    block.release_block();
    stack.end();
  }

  std::vector<unsigned> those(Fiber::State state) const {
    std::vector<unsigned> out;
    for (unsigned f = 0; f < fibers_.size(); ++f) {
      if (fibers_[f].state == state) out.push_back(f);
    }
    return out;
  }

  // Half of the time one warp runs alone as far as it can.
  void choose_warp(std::vector<unsigned>& ready) {
    if (random_() % 2 == 0) return;
    const unsigned warp = ready[random_() % ready.size()] / kWarp;
    std::vector<unsigned> chosen;
    for (unsigned f : ready) {
      if (f / kWarp == warp) chosen.push_back(f);
    }
    ready = chosen;
  }

  void fail(const std::string& what) {
    if (error_.empty()) error_ = what;
  }

  // A thread that waits for good, after an error, is never resumed.
  void wait() {
    do {
      stacks()[running_].leave(scheduler_);
    } while (fibers_[running_].state != Fiber::Ready || !error_.empty());
  }

  void release_block() {
    int line = 0;
    for (const Fiber& f : fibers_) {
      if (f.state == Fiber::Done) continue;
      if (f.state != Fiber::AtBarrier) return;
      if (line != 0 && f.line != line) fail("threads of a block wait at different barriers");
      line = f.line;
    }
    ++interval_;
    for (Fiber& f : fibers_) {
      if (f.state == Fiber::AtBarrier && error_.empty()) f.state = Fiber::Ready;
    }
  }

  void release_warp(unsigned first) {
    const unsigned mask = fibers_[running_].mask;
    unsigned given[kWarp] = {};
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const unsigned f = first + lane;
      if (f >= fibers_.size() || fibers_[f].state == Fiber::Done) return fail("a thread of a shuffle's mask has ended");
      if (fibers_[f].state != Fiber::AtShuffle) return;
      if (fibers_[f].mask != mask) return fail("threads shuffle with different masks");
      given[lane] = fibers_[f].value;
    }
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      Fiber& f = fibers_[first + lane];
      f.value = given[f.source];
      if (error_.empty()) f.state = Fiber::Ready;
    }
  }

  const Launch& launch_;
  const unsigned number_;
  SharedMemory shared_;
  std::mt19937& random_;
  std::vector<Fiber> fibers_;
  unsigned running_ = 0, interval_ = 0;
  ucontext_t scheduler_;
  std::string error_;
};

// What a GPU refuses to start.
void check(const Launch& launch) {
  constexpr unsigned kMostThreads = 1024;
  constexpr size_t kMostSharedBytes = 48 << 10;
  if (launch.blocks == 0 || launch.threads == 0) throw std::runtime_error("a launch has no threads");
  if (launch.threads > kMostThreads) throw std::runtime_error("a block has too many threads");
  if (launch.shared_bytes > kMostSharedBytes) throw std::runtime_error("a block has too much shared memory");
}

}  // namespace

void run(const Launch& launch, CUstream_st& stream) {
  check(launch);
  ++stream.launches;
  if (stream.only_counts) return;
  std::mt19937 random(stream.seed++);
  std::vector<unsigned> order(launch.blocks);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  place.threads.x = launch.threads;
  place.blocks.x = launch.blocks;
  GpuMemory::begin_launch();
  for (unsigned b : order) Block(launch, b, random).run();
}

void wait_for_block(int line) {
  const OutsideKernel outside;
  Block::current()->wait_for_block(line);
}

unsigned shuffle(unsigned mask, unsigned value, unsigned source) {
  const OutsideKernel outside;
  return Block::current()->shuffle(mask, value, source);
}

unsigned char* shared_memory() { return Block::current()->shared_memory(); }

void use(Use use, const void* at, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(at);
  if (in_kernel) {
    const OutsideKernel outside;
    Block::current()->use(use, address, bytes);
  } else if (!Block::current() && library_calls == 0 && GpuMemory::with(address)) {
    ADD_FAILURE() << "the host uses memory of the GPU";
  }
}

void add_to(const void* at, size_t bytes) { use(Use::Add, at, bytes); }

void use_unaligned() {
  if (!in_kernel) return;
  const OutsideKernel outside;
  Block::current()->stop("a thread uses an element, or several at once, that is not aligned");
}

LibraryCall::LibraryCall() { ++library_calls; }
LibraryCall::~LibraryCall() { --library_calls; }

}  // namespace emulated_cuda
