#include "session/mpi/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "engine/processes.h"
#include "plan/verify.h"
#include "support/available_memory.h"
#include "support/cores.h"
#include "support/text.h"

namespace distal::core {

namespace {

constexpr int64_t kGatherBytes = 64 << 20;  // per MPI call
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int threads_for(const Cluster& cluster, const SessionOptions& options) {
  if (options.threads > 0) return options.threads;
  // The rank's share of the machine's cores, or the cores that it is bound to if these are fewer.
  int share = static_cast<int>(std::thread::hardware_concurrency()) / cluster.ranks_on_machine();
  return std::max(1, std::min(share, usable_cores()));
}

// By tensor: the offsets of a rank's pieces in its memory.
std::vector<PieceOffsets> offsets_in(const Plan& plan, const std::vector<int>& ranks, int rank) {
  std::vector<PieceOffsets> out;
  for (const TensorPlan& t : plan.tensors) {
    auto is_wanted = [&](int64_t p) { return ranks[static_cast<size_t>(p)] == rank; };
    out.push_back(piece_offsets(t.owners, plan.program->module.type, is_wanted, out.empty() ? 0 : out.back().end));
  }
  return out;
}

// Which processors can use each other's pieces. `shares` says whether this rank's node shares memory; nodes may differ.
Reach reach_of(const Cluster& cluster, const std::vector<int>& ranks, bool shares) {
  int mine = shares ? cluster.node_of_rank()[static_cast<size_t>(cluster.rank())] : cluster.ranks() + cluster.rank();
  std::vector<int> by_rank(static_cast<size_t>(cluster.ranks()));
  MPI_Allgather(&mine, 1, MPI_INT, by_rank.data(), 1, MPI_INT, cluster.all());
  std::vector<int> nodes;
  for (int rank : ranks) nodes.push_back(by_rank[static_cast<size_t>(rank)]);
  return Reach::within(std::move(nodes));
}

// The sum of `by_processor` over the processors on this rank's machine.
int64_t bytes_on_machine(const Cluster& cluster, const std::vector<int>& ranks,
                         const std::vector<int64_t>& by_processor) {
  int64_t bytes = 0;
  for (size_t p = 0; p < ranks.size(); ++p) {
    if (cluster.is_on_machine(ranks[p])) bytes += by_processor[p];  // cannot overflow: memory_needs checked the total
  }
  return bytes;
}

}  // namespace

MpiSession::MpiSession(std::shared_ptr<PreparedProgram> prepared, const Cluster& cluster, const SessionOptions& options,
                       const MpiLimits& limits)
    : Session(std::move(prepared), options, "mpi"),
      cluster_(cluster),
      group_(cluster),
      limits_(limits),
      ranks_(processes_of_processors(plan(), cluster.ranks())),
      threads_(threads_for(cluster, options)),
      node_(plan(), cluster, ranks_) {}

void MpiSession::place_pieces(int64_t other_bytes) {
  int64_t have = available();
  choose_needs(memory_options(cluster_.shares()), other_bytes, have);
  if (cluster_.shares()) {
    window_ = Window::make(cluster_, offsets_in(plan(), ranks_, cluster_.rank()).back().end);
    MemoryOptions memory = memory_options(window_ != nullptr);
    // A node that cannot share memory needs more memory for copies.
    if (memory.reach != needs_.options.reach) choose_needs(memory, other_bytes, have);
  }
  set_store(pieces_in_one_memory());
  make_leaves();
  connect(window_ != nullptr);
}

// The pieces of this rank and, with a window, those of the other ranks of its node.
TensorStore MpiSession::pieces_in_one_memory() {
  std::vector<std::shared_ptr<TensorPieces>> pieces;
  for (const TensorPlan& t : plan().tensors) {
    pieces.push_back(std::make_shared<TensorPieces>(t.owners, plan().program->module.type, t.order));
  }
  for (int rank = 0; rank < cluster_.ranks(); ++rank) {
    bool ours = rank == cluster_.rank();
    if (!ours && !(window_ && cluster_.is_on_node(rank))) continue;
    std::vector<PieceOffsets> offsets = offsets_in(plan(), ranks_, rank);
    if (!window_) block_ = allocate_block(offsets.back().end, fmt::format("the pieces of rank {}", rank));
    std::byte* memory = window_ ? window_->of(rank) : block_.get();
    for (size_t t = 0; t < pieces.size(); ++t) pieces[t]->attach(offsets[t], memory, ours);
  }
  return TensorStore(plan(), std::move(pieces));
}

void MpiSession::hold(const std::vector<HeldTensor>& tensors) {
  node_.update(tensors);
  // The plan of every rank depends on which nodes share memory, so all ranks begin anew if that changed on any node.
  if (!all_true(cluster_.all(), is_started() && node_.are_shared() == shares_memory_)) {
    stop();
    make_leaves();  // also a barrier: after it the earlier runners of the other ranks have freed their memory
    int64_t pieces = bytes_on_machine(cluster_, ranks_, home_bytes(plan()));
    choose_needs(memory_options(node_.are_shared()), 0, std::min(available(), kMost - pieces) + pieces);
    connect(node_.are_shared());
  }
  for (size_t t = 0; t < tensors.size(); ++t) store().set_pieces(static_cast<int>(t), node_.pieces()[t]);
}

void MpiSession::let_go() {
  store().release_pieces();
  node_.let_go();
}

int64_t MpiSession::available() const { return limits_.memory.value_or(available_memory()); }

MemoryOptions MpiSession::memory_options(bool shares) const {
  MemoryOptions memory = reach_of(cluster_, ranks_, shares);
  memory.processes = ranks_;
  memory.prefetch_depth = limits_.prefetch_depth;
  return memory;
}

int64_t MpiSession::bytes_needed_on_machine(const MemoryNeeds& needs, int64_t other_bytes) const {
  int64_t others = 0, all = 0;
  bool fits = !__builtin_mul_overflow(other_bytes, cluster_.ranks_on_machine(), &others) &&
              !__builtin_add_overflow(bytes_on_machine(cluster_, ranks_, needs.peak), others, &all);
  return fits ? all : kMost;
}

// Chooses a prefetch depth for which memory suffices. Throws if not even depth 0 fits.
void MpiSession::choose_needs(const MemoryOptions& memory, int64_t other_bytes, int64_t available) {
  auto fits = [&](const MemoryNeeds& needs) {
    return all_true(cluster_.all(), bytes_needed_on_machine(needs, other_bytes) <= available);
  };
  agree_on_error(cluster_, [&] { needs_ = needs_with_prefetch(plan(), memory, fits); });  // throws if a need overflows
  agree_on_error(cluster_, [&] { require_node_memory(bytes_needed_on_machine(needs_, other_bytes), available); });
}

// The first rank of each node compiles the leaves; then the other ranks find them in the cache.
void MpiSession::make_leaves() {
  bool first = cluster_.rank_in_node(cluster_.rank()) == 0;
  for (bool turn : {true, false}) {
    agree_on_error(cluster_, [&] {
      if (first == turn) prepared()->leaves(options().leaf);
    });
  }
}

void MpiSession::connect(bool shares) {
  // choose_needs compared each machine's need with its memory. This checks that no processor exceeds its own need.
  verify(plan(), needs_, {.per_processor = needs_.peak_per_processor});
  shares_memory_ = shares;
  transport_ = nullptr;
  transport_ = std::make_unique<MpiTransport>(cluster_, ranks_, plan().tensors[0].element_bytes);
  start(needs_, {.threads = threads_, .transport = transport_.get()});
}

RunCounts MpiSession::run() {
  return on_all_ranks([&] { return Session::run(); });
}

RunCounts MpiSession::run_stage(size_t stage) {
  return on_all_ranks([&] { return Session::run_stage(stage); });
}

RunCounts MpiSession::on_all_ranks(const std::function<RunCounts()>& run_here) {
  int64_t copied = node_.copy(threads_);
  RunCounts mine = run_here();
  int64_t counts[] = {mine.bytes_moved, mine.bytes_copied + copied, mine.messages, mine.tasks,
                      skipped_leaves() ? 1 : 0};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, counts, 5, MPI_INT64_T, MPI_SUM, cluster_.all(), &request);
  wait_patiently(request);
  if (counts[4] > 0) throw AgreedInterruption();
  return {counts[0], counts[1], counts[2], counts[3]};
}

void MpiSession::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(cluster_.all(), &request);
  wait_patiently(request);
}

std::string MpiSession::description() const {
  std::string nodes = cluster_.nodes() == 1 ? "one node" : fmt::format("{} nodes", cluster_.nodes());
  std::string threads = threads_ == 1 ? "one thread" : fmt::format("{} threads", threads_);
  return fmt::format("{} on {}, {} each", counted(cluster_.ranks(), "MPI rank"), nodes, threads);
}

int64_t MpiSession::largest(int64_t mine) const {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_MAX, cluster_.all());
  return mine;
}

std::vector<std::byte> MpiSession::gather(int tensor) const {
  const TensorPlan& t = plan().tensors[static_cast<size_t>(tensor)];
  Rect all = whole(t.owners.shape());
  int64_t rows = all.dimensions() > 0 ? all.hi[0] : 1;
  int64_t row_bytes = rows > 0 ? all.volume() / rows * t.element_bytes : 0;
  int64_t at_once = std::max<int64_t>(1, kGatherBytes / std::max<int64_t>(1, row_bytes));
  std::vector<std::byte> out;
  out.reserve(static_cast<size_t>(all.volume() * t.element_bytes));
  for (int64_t row = 0; row < rows; row += at_once) {
    Rect slab = all;
    if (all.dimensions() > 0) {
      slab.lo[0] = row;
      slab.hi[0] = std::min(rows, row + at_once);
    }
    // Every element has one first owner. The ranks that are not its owner contribute zeros.
    std::vector<std::byte> bytes = store().pieces(tensor).gather(slab, [&](int64_t p) { return is_here(p); });
    for (size_t done = 0; done < bytes.size(); done += kGatherBytes) {  // a row may exceed MPI's counts
      int count = static_cast<int>(std::min<size_t>(kGatherBytes, bytes.size() - done));
      std::byte* part = bytes.data() + done;
      MPI_Allreduce(MPI_IN_PLACE, part, count, MPI_BYTE, MPI_BOR, cluster_.all());
    }
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

}  // namespace distal::core
