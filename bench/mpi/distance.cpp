// Measures the bandwidth of two operands that are read side by side, by the distance of their addresses.
// Usage: distance ROUNDS
//
// The second operand lies 1 GiB, or 1 GiB and 3 KiB, behind the first. The program also maps the same memory a second
// time, 4 GiB, or 6 GiB and 2 MiB, behind the first operand. That separates the effect of the virtual address from that
// of the physical one. The program also measures the latency of a cache line between two cores at the same time: on a
// virtual machine it shows whether the host runs both cores near each other at that moment.

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
constexpr int64_t kOffset = 3072;
constexpr double kNearLatency = 80;  // in ns; cores with less latency are near each other

bool pin_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

void check(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::exit(1);
}

// Runs body(0) and body(1) at the same time on two cores, and returns the longer time in seconds.
double on_two_cores(const std::function<void(int)>& body) {
  std::atomic<int> started{0};
  std::array<double, 2> seconds{};
  auto run = [&](int core) {
    check(pin_to(core), "sched_setaffinity");
    for (++started; started < 2;) {
    }
    seconds[static_cast<size_t>(core)] = leaf::seconds_of([&] { body(core); });
  };
  std::thread one(run, 0), other(run, 1);
  one.join();
  other.join();
  return std::max(seconds[0], seconds[1]);
}

// The latency of a cache line that two cores write in turn, in nanoseconds.
double latency_between_cores() {
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
    void* reserved = mmap(nullptr, 8 * kOperand, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(reserved != MAP_FAILED, "mmap");
    auto address = reinterpret_cast<uintptr_t>(reserved);
    auto* begin = static_cast<std::byte*>(reserved) + (kHugePage - address % kHugePage) % kHugePage;
    first_ = map(begin, 0, kMapped);
    std::memset(first_, 0, kMapped);
    collapse_to_huge_pages(first_, kMapped);
    for (int64_t distance : {4 * kOperand, 6 * kOperand + kHugePage}) {
      remapped_.push_back(map(begin + distance, kOperand, kOperand));
      collapse_to_huge_pages(remapped_.back(), kOperand);
    }
  }

  // The second operands by name.
  std::array<std::pair<const char*, const std::byte*>, 4> second_operands() const {
    return {{{"1 GiB behind", first_ + kOperand},
             {"1 GiB and 3 KiB behind", first_ + kOperand + kOffset},
             {"mapped 4 GiB behind", remapped_[0]},
             {"mapped 6 GiB and 2 MiB behind", remapped_[1]}}};
  }

  double gigabytes_per_second(const std::byte* second) {
    const auto* a = reinterpret_cast<const leaf::Vector*>(first_);
    const auto* b = reinterpret_cast<const leaf::Vector*>(second);
    int64_t vectors = (kOperand - kOffset) / static_cast<int64_t>(sizeof(leaf::Vector));
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

  static void collapse_to_huge_pages(std::byte* data, int64_t bytes) {
    constexpr int kCollapse = 25;  // MADV_COLLAPSE
    madvise(data, static_cast<size_t>(bytes), kCollapse);
  }

  int file_;
  std::byte* first_ = nullptr;
  std::vector<std::byte*> remapped_;
  std::atomic<double> sink_ = 0;  // keeps the compiler from removing the sums
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: distance ROUNDS\n", stderr);
    return 2;
  }
  Operands operands;
  std::map<bool, std::vector<double>> latencies;  // by whether the cores are near each other
  std::map<std::pair<bool, std::string>, std::vector<double>> speeds;
  for (int round = 0; round < std::atoi(argv[1]); ++round) {
    for (const auto& [name, second] : operands.second_operands()) {
      double latency = latency_between_cores();
      double speed = operands.gigabytes_per_second(second);
      bool is_near = latency < kNearLatency;
      bool have_moved = (latency_between_cores() < kNearLatency) != is_near;
      if (have_moved) continue;
      latencies[is_near].push_back(latency);
      speeds[{is_near, name}].push_back(speed);
    }
  }
  for (const auto& [key, all] : speeds) {
    leaf::Timing t = leaf::summary(all);
    std::printf("cores %3.0f ns apart: %-35s %5.1f GB/s, median of %zu\n", leaf::summary(latencies[key.first]).median,
                key.second.c_str(), t.median, t.repetitions);
  }
  return 0;
}
