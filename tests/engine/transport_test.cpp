// Plans on several simulated processes. Each has a runner for its share of the processors, as on a cluster, but all are
// threads of one process, so that the sanitizers see all of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>
#include <iostream>
#include <set>

#include "engine/processes.h"
#include "engine/runner.h"
#include "plan/verify.h"
#include "support/catalogue.h"
#include "support/expected.h"
#include "support/loopback.h"

namespace distal::core {
namespace {

using test::Catalogue;
using test::Expected;
using test::Sample;

// How many processes there are, and the node of each. Processes of one node use each other's pieces in place.
struct Setup {
  std::string name;
  std::vector<int> nodes;
  int prefetch_depth = 0;
  uint64_t number = 0;  // selects the programs that the setup runs

  int processes() const { return static_cast<int>(nodes.size()); }
};
void PrintTo(const Setup& setup, std::ostream* out) { *out << setup.name; }

MemoryNeeds needs_of(const Plan& plan, const std::vector<int>& processes, const Setup& setup) {
  std::vector<int> nodes;
  for (int process : processes) nodes.push_back(setup.nodes[static_cast<size_t>(process)]);
  MemoryOptions options = Reach::within(std::move(nodes));
  options.processes = processes;
  options.prefetch_depth = setup.prefetch_depth;
  return memory_needs(plan, options);
}

// The memory of all pieces of all processes. Each piece is a separate allocation.
class AllPieces {
 public:
  explicit AllPieces(const Plan& plan) : plan_(plan), memory_(plan.tensors.size()) {
    for (size_t t = 0; t < plan.tensors.size(); ++t) {
      const Ownership& owners = plan.tensors[t].owners;
      for (int64_t p = 0; p < owners.machine().processors; ++p) {
        int64_t bytes = owners.owns_any(p) ? owners.piece_of(p).volume() * plan.tensors[t].element_bytes : 0;
        memory_[t].emplace_back(static_cast<size_t>(bytes));
      }
    }
  }

  // The store of one process: its own pieces (`is_here`), and those that it can access in place (`is_near`).
  template <class IsHere, class IsNear>
  TensorStore store(const IsHere& is_here, const IsNear& is_near) {
    std::vector<std::shared_ptr<TensorPieces>> pieces;
    for (size_t t = 0; t < plan_.tensors.size(); ++t) {
      const TensorPlan& tensor = plan_.tensors[t];
      pieces.push_back(std::make_shared<TensorPieces>(tensor.owners, plan_.program->module.type, tensor.order));
      for (size_t p = 0; p < memory_[t].size(); ++p) {
        auto processor = static_cast<int64_t>(p);
        if (!tensor.owners.owns_any(processor) || !is_near(processor)) continue;
        pieces.back()->attach(processor, memory_[t][p].data(), is_here(processor));
      }
    }
    return TensorStore(plan_, std::move(pieces));
  }

 private:
  const Plan& plan_;
  std::vector<std::vector<std::vector<std::byte>>> memory_;  // [tensor][processor]
};

// One simulated process.
class Process {
 public:
  Process(const Plan& plan, const MemoryNeeds& needs, AllPieces& pieces, test::LoopbackHub& hub, const Setup& setup,
          int number, int threads)
      : transport_(hub, number),
        allocator_(plan.processors),
        store_(pieces.store([&](int64_t p) { return is_here(p); },
                            [&](int64_t p) {
                              return setup.nodes[static_cast<size_t>(hub.process_of(p))] ==
                                     setup.nodes[static_cast<size_t>(number)];
                            })) {
    RunnerOptions options;
    options.threads = threads;
    options.transport = &transport_;
    for (int64_t p = 0; p < plan.processors; ++p) {
      if (is_here(p)) allocator_.record_allocation(p, needs.home_bytes[static_cast<size_t>(p)]);
    }
    runner_ = std::make_unique<Runner>(plan, needs, test::quick_leaves(plan), allocator_, store_, options);
  }

  bool is_here(int64_t processor) const { return transport_.is_here(processor); }
  TensorStore& store() { return store_; }
  Runner& runner() { return *runner_; }
  int64_t peak() const { return allocator_.peak_per_processor(); }

 private:
  test::Loopback transport_;
  Allocator allocator_;
  TensorStore store_;
  std::unique_ptr<Runner> runner_;
};

// All simulated processes, with one program.
class SimulatedJob {
 public:
  SimulatedJob(const Sample& sample, const Setup& setup)
      : sample_(sample),
        plan_(sample.plan()),
        ranks_(processes_of_processors(plan_, setup.processes())),
        needs_(needs_of(plan_, ranks_, setup)),
        pieces_(plan_),
        hub_(ranks_, setup.nodes, plan_.program->module.type, sample.seed) {
    verify(plan_, needs_);
    for (int i = 0; i < setup.processes(); ++i) {
      processes_.push_back(std::make_unique<Process>(plan_, needs_, pieces_, hub_, setup, i, 1 + i % 2));
    }
  }

  void check() {
    for (int i = 0; i < 2; ++i) {
      place(Expected(plan_, sample_.seed));
      RunCounts counts = on_all([](Process& p) { return p.runner().run(); });
      test::require_cost(plan_, counts.bytes_moved, counts.messages);
    }
    check_stages();
    int64_t peak = 0;
    for (auto& p : processes_) peak = std::max(peak, p->peak());
    test::require_equal("peak memory", peak, needs_.peak_per_processor);
  }

  // The largest number of messages that one processor sends in a run of the whole plan.
  int64_t most_sent() {
    place(Expected(plan_, sample_.seed));
    on_all([](Process& p) { return p.runner().run(); });
    return hub_.most_sent();
  }

 private:
  void place(const Expected& expected) {
    for (auto& p : processes_) expected.place(p->store());
  }

  void check_stages() {
    Expected expected(plan_, sample_.seed);
    place(expected);
    RunCounts sum;
    for (size_t s = 0; s < plan_.stages.size(); ++s) {
      sum += on_all([s](Process& p) { return p.runner().run_stage(s); });
      expected.advance(plan_.stages[s], gather(plan_.stages[s].output), sample_.exactly);
      for (auto& p : processes_) {
        expected.check_pieces(p->store(), [&](int64_t processor) { return p->is_here(processor); });
      }
    }
    test::require_cost(plan_, sum.bytes_moved, sum.messages);
  }

  // Calls f for all processes in parallel, and returns the sum of their counts. If one process fails, the others would
  // wait for it forever, so a failure ends the test program.
  template <class F>
  RunCounts on_all(const F& f) {
    std::vector<RunCounts> counts(processes_.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < processes_.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          counts[i] = f(*processes_[i]);
        } catch (const std::exception& e) {
          std::cerr << sample_.name << " " << sample_.settings << ": " << e.what() << "\n" << sample_.text;
          std::abort();
        }
      });
    }
    RunCounts sum;
    for (size_t i = 0; i < threads.size(); ++i) {
      threads[i].join();
      sum += counts[i];
    }
    return sum;
  }

  // A whole tensor in row-major order.
  std::vector<std::byte> gather(int tensor) {
    Rect all = whole(plan_.tensors[static_cast<size_t>(tensor)].owners.shape());
    std::vector<std::byte> out;
    for (size_t i = 0; i < processes_.size(); ++i) {
      auto is_its_own = [&](int64_t p) { return hub_.process_of(p) == static_cast<int>(i); };
      std::vector<std::byte> part = processes_[i]->store().pieces(tensor).gather(all, is_its_own);
      if (out.empty()) out.resize(part.size());
      // Every element has one first owner. In the parts of all other processes the element is zero.
      std::transform(out.begin(), out.end(), part.begin(), out.begin(), std::bit_or<>());
    }
    return out;
  }

  const Sample& sample_;
  Plan plan_;
  std::vector<int> ranks_;  // by processor: its process
  MemoryNeeds needs_;
  AllPieces pieces_;
  test::LoopbackHub hub_;
  std::vector<std::unique_ptr<Process>> processes_;
};

void run_together(const Sample& sample, const Setup& setup) {
  SCOPED_TRACE(fmt::format("{} {} of seed {}\n{}", sample.name, sample.settings, sample.seed, sample.text));
  try {
    SimulatedJob(sample, setup).check();
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
}

class Processes : public testing::TestWithParam<Setup> {};

// How processes are assigned to nodes: each to a node of its own, all to one node, two to each node, or in turn to two
// nodes.
struct Layout {
  std::string name;
  int (*node_of)(int process);
};

// Every number of processes with every layout, without duplicates: two processes are the same "in pairs" and "of one
// node".
std::vector<Setup> make_setups() {
  const std::vector<Layout> layouts{{"apart", [](int p) { return p; }},
                                    {"of_one_node", [](int) { return 0; }},
                                    {"in_pairs", [](int p) { return p / 2; }},
                                    {"dealt_to_two_nodes", [](int p) { return p % 2; }}};
  std::vector<Setup> out;
  std::set<std::vector<int>> seen;
  for (int processes : {1, 2, 3, 4, 5, 6, 8, 9, 12, 16}) {
    for (const Layout& layout : layouts) {
      auto number = static_cast<uint64_t>(out.size());
      Setup setup{fmt::format("{}_{}", processes, layout.name), {}, static_cast<int>(number % 2), number};
      for (int p = 0; p < processes; ++p) setup.nodes.push_back(layout.node_of(p));
      if (seen.insert(setup.nodes).second) out.push_back(std::move(setup));
    }
  }
  return out;
}

const std::vector<Setup>& setups() {
  static const std::vector<Setup> all = make_setups();
  return all;
}

// Each setup runs one of every kShare algorithms, beginning at a different one, so that every algorithm runs in several
// setups.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kShare = 40;
constexpr int kRandomPrograms = 2;
#else
constexpr size_t kShare = 8;
constexpr int kRandomPrograms = 10;
#endif

TEST_P(Processes, Algorithms) {
  Catalogue catalogue(100 + GetParam().number);
  for (size_t i = GetParam().number % kShare; i < catalogue.samples().size(); i += kShare) {
    run_together(catalogue.samples()[i], GetParam());
  }
}

TEST_P(Processes, OneElementAtATime) {
  Sample sample{"one element at a time", test::kOneElementAtATime, "n=40", ElementType::Double, 1};
  run_together(sample, GetParam());
}

TEST_P(Processes, RandomPrograms) {
  uint64_t seed = 8'000'000 + 1000 * GetParam().number;
  for (int count = 0; count < kRandomPrograms && !HasFailure(); ++seed) {
    std::optional<Sample> sample = test::random_sample(seed);
    if (!sample) continue;
    run_together(*sample, GetParam());
    ++count;
  }
}

// One processor has what all others need.
const std::string kFromOne = R"(param n = 40, g = 8
machine M = Grid(g)
tensor a(n) : x -> x on M
tensor B(n, n) : xy -> x on M
tensor c(n) : x -> 0 on M
a(i) = B(i, j) * c(j)
schedule
  distribute(i, io, ii, M)
  communicate({a, B, c}, io)
)";

Setup apart(int processes) {
  Setup setup{"apart", {}, 0, 7};
  for (int p = 0; p < processes; ++p) setup.nodes.push_back(p);
  return setup;
}

TEST(Broadcasts, AreHandedOn) {
  for (int processes : {2, 3, 5, 8}) {
    SCOPED_TRACE(processes);
    auto setup = apart(processes);
    Sample sample{"from one", kFromOne, fmt::format("g={}", processes), ElementType::Double, 3};
    int rounds = std::bit_width(static_cast<unsigned>(processes - 1));
    EXPECT_EQ(SimulatedJob(sample, setup).most_sent(), rounds);
    run_together(sample, setup);
  }
}

// On one node the owner sends a token to each of the two others, which then add their partials in place. On different
// nodes each of the two sends its partial as a message.
TEST(Partials, OfOneNodeAreAddedWhereTheyEnd) {
  Sample sample{"to one", test::kMatvecByColumns, "n=40,g=3", ElementType::Double, 3};
  Plan plan = sample.plan();
  auto near = apart(3);
  near.nodes.assign(3, 0);
  for (const auto& [setup, is_near] : {std::pair(near, true), std::pair(apart(3), false)}) {
    SCOPED_TRACE(is_near);
    MemoryNeeds needs = needs_of(plan, processes_of_processors(plan, setup.processes()), setup);
    EXPECT_EQ(needs.staging_bytes[0].empty(), is_near);
    EXPECT_EQ(SimulatedJob(sample, setup).most_sent(), is_near ? 2 : 1);
    run_together(sample, setup);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Processes, testing::ValuesIn(setups()),
                         [](const auto& tested) { return tested.param.name; });

TEST(MessagePart, GoesInTheOrderOfStorage) {
  std::vector<std::byte> memory(8 * 30);
  View columns = dense_view(memory.data(), {{2, 4}, {5, 14}}, {1, 0});
  MessagePart part = in_storage_order(columns, {{3, 4}, {5, 6}}, {1, 0});
  EXPECT_EQ(part.rect, (Rect{{4, 3}, {6, 5}}));
  EXPECT_EQ(part.view.strides, (Coordinates{3, 1}));
  EXPECT_EQ(part.view.data, columns.data);
  EXPECT_EQ(part.view.offset, columns.offset);
  EXPECT_EQ(in_storage_order({memory.data(), 7, {}}, {}, {}).rect.volume(), 1);
}

}  // namespace
}  // namespace distal::core
