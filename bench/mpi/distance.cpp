// How fast two operands are read side by side, by the distance of their addresses: distance ROUNDS. The second one lies
// 1 GiB behind the first, is read from 3 KiB further on, or is seen a second time, where it is mapped 4 GiB behind the
// first, or 6 GiB and 2 MiB: that tells the address from the place in memory. And how fast a cache line goes from core
// to core meanwhile, which on a virtual machine shows whether its cores are near each other at that moment.

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../leaf/streams.h"
#include "../leaf/timing.h"

namespace {

constexpr int64_t kHugePage = 2 << 20;
constexpr int64_t kOperand = 1 << 30;
constexpr int64_t kFurther = 3072;
constexpr double kNear = 80;  // ns from core to core

bool stay_on(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

void check(bool fine, const char* what) {
  if (fine) return;
  std::perror(what);
  std::exit(1);
}

// The seconds that body(0) and body(1) take, each on a core of its own, from when both are there.
double on_two_cores(const std::function<void(int)>& body) {
  std::atomic<int> there{0};
  std::array<double, 2> seconds{};
  auto run = [&](int core) {
    check(stay_on(core), "sched_setaffinity");
    for (++there; there < 2;) {
    }
    seconds[static_cast<size_t>(core)] = leaf::seconds_of([&] { body(core); });
  };
  std::thread one(run, 0), other(run, 1);
  one.join();
  other.join();
  return std::max(seconds[0], seconds[1]);
}

// Of a cache line that two cores write in turn.
double nanoseconds_between_cores() {
  constexpr int kTurns = 3000;
  alignas(128) std::atomic<int> turn{0};
  double seconds = on_two_cores([&](int core) {
    for (int i = 0; i < kTurns; ++i) {
      while (turn.load(std::memory_order_acquire) != 2 * i + core) {
      }
      turn.store(2 * i + core + 1, std::memory_order_release);
    }
  });
  return seconds / kTurns / 2 * 1e9;
}

class Operands {
 public:
  Operands() : file_(memfd_create("operands", 0)) {
    check(file_ >= 0 && ftruncate(file_, kMapped) == 0, "memfd_create");
    void* room = mmap(nullptr, 8 * kOperand, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(room != MAP_FAILED, "mmap");
    auto address = reinterpret_cast<uintptr_t>(room);
    auto* begin = static_cast<std::byte*>(room) + (kHugePage - address % kHugePage) % kHugePage;
    first_ = map(begin, 0, kMapped);
    std::memset(first_, 0, kMapped);
    on_huge_pages(first_, kMapped);
    for (int64_t distance : {4 * kOperand, 6 * kOperand + kHugePage}) {
      again_.push_back(map(begin + distance, kOperand, kOperand));
      on_huge_pages(again_.back(), kOperand);
    }
  }

  std::array<std::pair<const char*, const std::byte*>, 4> ways() const {
    return {{{"1 GiB behind", first_ + kOperand},
             {"1 GiB and 3 KiB behind", first_ + kOperand + kFurther},
             {"seen 4 GiB behind", again_[0]},
             {"seen 6 GiB and 2 MiB behind", again_[1]}}};
  }

  double gigabytes_a_second(const std::byte* second) {
    const auto* a = reinterpret_cast<const leaf::Vector*>(first_);
    const auto* b = reinterpret_cast<const leaf::Vector*>(second);
    int64_t vectors = (kOperand - kFurther) / static_cast<int64_t>(sizeof(leaf::Vector));
    auto both = [=](int64_t x) { return a[x] * b[x]; };
    double seconds = on_two_cores(
        [&](int core) { sink_ = leaf::sum_streams<1>(vectors * core / 2, vectors * (core + 1) / 2, both); });
    return 2e-9 * static_cast<double>(vectors) * sizeof(leaf::Vector) / seconds;
  }

 private:
  static constexpr int64_t kMapped = 2 * kOperand + kHugePage;

  std::byte* map(std::byte* at, int64_t from, int64_t bytes) const {
    void* mapped = mmap(at, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, from);
    check(mapped != MAP_FAILED, "mmap");
    return static_cast<std::byte*>(mapped);
  }

  static void on_huge_pages(std::byte* data, int64_t bytes) {
    constexpr int kCollapse = 25;  // MADV_COLLAPSE
    madvise(data, static_cast<size_t>(bytes), kCollapse);
  }

  int file_;
  std::byte* first_ = nullptr;
  std::vector<std::byte*> again_;
  std::atomic<double> sink_ = 0;  // the sums must be made
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: distance ROUNDS\n", stderr);
    return 2;
  }
  Operands operands;
  std::map<bool, std::vector<double>> between;  // by whether cores are near
  std::map<std::pair<bool, std::string>, std::vector<double>> speeds;
  for (int round = 0; round < std::atoi(argv[1]); ++round) {
    for (const auto& [name, second] : operands.ways()) {
      double before = nanoseconds_between_cores();
      double speed = operands.gigabytes_a_second(second);
      bool is_near = before < kNear;
      if ((nanoseconds_between_cores() < kNear) != is_near) continue;
      between[is_near].push_back(before);
      speeds[{is_near, name}].push_back(speed);
    }
  }
  for (const auto& [key, all] : speeds) {
    leaf::Timing t = leaf::summary(all);
    std::printf("cores %3.0f ns apart: %-35s %5.1f GB/s, median of %zu\n", leaf::summary(between[key.first]).median,
                key.second.c_str(), t.median, t.repetitions);
  }
  return 0;
}
