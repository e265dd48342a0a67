#include "engine/mpi/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <thread>

#include "engine/processes.h"
#include "plan/verify.h"
#include "support/checked.h"
#include "support/cores.h"
#include "support/text.h"

namespace distal::core {

namespace {

constexpr int64_t kGatherBytes = 64 << 20;  // per MPI call

int threads_for(const Cluster& cluster, const MpiOptions& options) {
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

void require_node_memory(int64_t need, int64_t have) {
  if (need <= have) return;
  throw Error(fmt::format("the run needs {} on this node, which has {}", bytes_in_full(need), bytes_in_full(have)), {},
              "choose smaller sizes, or more nodes", Error::Kind::Resources);
}

// Also sends the source text that the span points into: other ranks may not have the file.
void broadcast_span(const Cluster& cluster, int from, SourceSpan& span) {
  int numbers[] = {span.line, span.column, span.length};
  MPI_Bcast(numbers, 3, MPI_INT, from, cluster.all());
  Source source = span.source ? *span.source : Source{};
  for (std::string* text : {&source.name, &source.text}) broadcast_text(cluster, from, *text);
  span = {numbers[0] > 0 ? std::make_shared<const Source>(std::move(source)) : nullptr, numbers[0], numbers[1],
          numbers[2]};
}

// The first lines in which two texts differ.
std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  std::istringstream of_a(a), of_b(b);
  std::string x, y;
  do {
    x.clear(), y.clear();
    std::getline(of_a, x), std::getline(of_b, y);
  } while (x == y && (of_a || of_b));
  return {x, y};
}

}  // namespace

MpiEngine::MpiEngine(const Plan& plan, const Cluster& cluster, const MpiOptions& options)
    : plan_(plan),
      cluster_(cluster),
      ranks_(processes_of_processors(plan, cluster.ranks())),
      threads_(threads_for(cluster, options)),
      extra_bytes_(options.extra_bytes),
      allocator_(plan.processors) {}

MpiEngine::MpiEngine(const Plan& plan, const Cluster& cluster, MpiOptions options, int64_t available)
    : MpiEngine(plan, cluster, options) {
  choose_needs(memory_options(options, options.share), available);
  if (options.share) {
    window_ = Window::make(cluster, offsets_in(plan, ranks_, cluster.rank()).back().end);
    MemoryOptions memory = memory_options(options, window_ != nullptr);
    // A node that cannot share memory needs more memory for copies.
    if (memory.reach != needs_.options.reach) choose_needs(memory, available);
  }
  connect();
  place_pieces();
}

MpiEngine::MpiEngine(const Plan& plan, const Cluster& cluster, MpiOptions options, std::unique_ptr<TensorStore> store,
                     int64_t available)
    : MpiEngine(plan, cluster, options) {
  store_ = std::move(store);
  int64_t pieces = bytes_on_machine(cluster, ranks_, home_bytes(plan));
  int64_t with_pieces = std::min(available, std::numeric_limits<int64_t>::max() - pieces) + pieces;
  choose_needs(memory_options(options, options.share), with_pieces);
  connect();
}

MemoryOptions MpiEngine::memory_options(const MpiOptions& options, bool shares) const {
  MemoryOptions memory = reach_of(cluster_, ranks_, shares);
  memory.processes = ranks_;
  memory.prefetch_depth = options.prefetch_depth;
  return memory;
}

void MpiEngine::connect() {
  // choose_needs compared each machine's need with its memory. This checks that no processor exceeds its own need.
  verify(plan_, needs_, {.per_processor = needs_.peak_per_processor});
  transport_ = std::make_unique<MpiTransport>(cluster_, ranks_, plan_.tensors[0].element_bytes);
}

int64_t MpiEngine::bytes_needed_on_machine(const MemoryNeeds& needs) const {
  int64_t extra = 0, all = 0;
  bool fits = !__builtin_mul_overflow(extra_bytes_, cluster_.ranks_on_machine(), &extra) &&
              !__builtin_add_overflow(bytes_on_machine(cluster_, ranks_, needs.peak), extra, &all);
  return fits ? all : std::numeric_limits<int64_t>::max();
}

// Chooses a prefetch depth for which memory suffices. Throws if not even depth 0 fits.
void MpiEngine::choose_needs(const MemoryOptions& memory, int64_t available) {
  auto fits = [&](const MemoryNeeds& needs) {
    return all_true(cluster_.all(), bytes_needed_on_machine(needs) <= available);
  };
  agree_on_error(cluster_, [&] { needs_ = needs_with_prefetch(plan_, memory, fits); });  // throws if a need overflows
  agree_on_error(cluster_, [&] { require_node_memory(bytes_needed_on_machine(needs_), available); });
}

// Places the pieces of this rank in memory; with a window also those of the other ranks of the node.
void MpiEngine::place_pieces() {
  std::vector<std::shared_ptr<TensorPieces>> pieces;
  for (const TensorPlan& t : plan_.tensors) {
    pieces.push_back(std::make_shared<TensorPieces>(t.owners, plan_.program->module.type, t.order));
  }
  for (int rank = 0; rank < cluster_.ranks(); ++rank) {
    bool ours = rank == cluster_.rank();
    if (!ours && !(window_ && cluster_.is_on_node(rank))) continue;
    std::vector<PieceOffsets> offsets = offsets_in(plan_, ranks_, rank);
    if (!window_) block_ = allocate_block(offsets.back().end, fmt::format("the pieces of rank {}", rank));
    std::byte* memory = window_ ? window_->of(rank) : block_.get();
    for (size_t t = 0; t < plan_.tensors.size(); ++t) pieces[t]->attach(offsets[t], memory, ours);
  }
  store_ = std::make_unique<TensorStore>(plan_, std::move(pieces));
}

void MpiEngine::use_leaves(std::vector<std::unique_ptr<LeafKernel>> leaves) {
  RunnerOptions options;
  options.threads = threads_;
  options.processors_here = std::count(ranks_.begin(), ranks_.end(), cluster_.rank());
  options.transport = transport_.get();
  runner_ = std::make_unique<Runner>(plan_, needs_, std::move(leaves), allocator_, *store_, options);
}

RunCounts MpiEngine::run() { return sum_over_ranks(runner_->run()); }

RunCounts MpiEngine::run_stage(size_t stage) { return sum_over_ranks(runner_->run_stage(stage)); }

RunCounts MpiEngine::sum_over_ranks(RunCounts mine) const {
  int64_t counts[] = {mine.bytes_moved, mine.bytes_copied, mine.messages, mine.tasks};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, counts, 4, MPI_INT64_T, MPI_SUM, cluster_.all(), &request);
  wait_patiently(request);
  return {counts[0], counts[1], counts[2], counts[3]};
}

int64_t MpiEngine::peak_per_processor() const {
  int64_t peak = peak_here();
  MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_INT64_T, MPI_MAX, cluster_.all());
  return peak;
}

std::vector<std::byte> MpiEngine::gather(int tensor, At at) const {
  const TensorPlan& t = plan_.tensors[static_cast<size_t>(tensor)];
  Rect all = whole(t.owners.shape());
  int64_t rows = all.dimensions() > 0 ? all.hi[0] : 1;
  int64_t row_bytes = rows > 0 ? all.volume() / rows * t.element_bytes : 0;
  int64_t at_once = std::max<int64_t>(1, kGatherBytes / std::max<int64_t>(1, row_bytes));
  std::vector<std::byte> out;
  bool keep = at == At::All || cluster_.rank() == 0;
  if (keep) out.reserve(static_cast<size_t>(all.volume() * t.element_bytes));
  for (int64_t row = 0; row < rows; row += at_once) {
    Rect slab = all;
    if (all.dimensions() > 0) {
      slab.lo[0] = row;
      slab.hi[0] = std::min(rows, row + at_once);
    }
    // Every element has one first owner. The ranks that are not its owner contribute zeros.
    std::vector<std::byte> bytes = store_->pieces(tensor).gather(slab, [&](int64_t p) { return is_here(p); });
    for (size_t done = 0; done < bytes.size(); done += kGatherBytes) {  // a row may exceed MPI's counts
      int count = static_cast<int>(std::min<size_t>(kGatherBytes, bytes.size() - done));
      std::byte* part = bytes.data() + done;
      if (at == At::All) {
        MPI_Allreduce(MPI_IN_PLACE, part, count, MPI_BYTE, MPI_BOR, cluster_.all());
      } else {
        MPI_Reduce(keep ? MPI_IN_PLACE : part, part, count, MPI_BYTE, MPI_BOR, 0, cluster_.all());
      }
    }
    if (keep) out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

void end_job_on_failure(const Cluster& cluster, const std::function<void()>& f) {
  try {
    f();
  } catch (const AgreedError&) {
    throw;
  } catch (...) {
    end_job(cluster, std::current_exception());
  }
}

void require_machine_memory(const Cluster& cluster, int64_t mine, int64_t available) {
  std::vector<int64_t> needs(static_cast<size_t>(cluster.ranks()));
  MPI_Allgather(&mine, 1, MPI_INT64_T, needs.data(), 1, MPI_INT64_T, cluster.all());
  agree_on_error(cluster, [&] {
    int64_t need = 0;
    for (int rank = 0; rank < cluster.ranks(); ++rank) {
      if (cluster.is_on_machine(rank)) need = checked_add(need, needs[static_cast<size_t>(rank)]);
    }
    require_node_memory(need, available);
  });
}

void broadcast_text(const Cluster& cluster, int from, std::string& text) {
  auto size = static_cast<int>(text.size());
  MPI_Bcast(&size, 1, MPI_INT, from, cluster.all());
  text.resize(static_cast<size_t>(size));
  MPI_Bcast(text.data(), size, MPI_BYTE, from, cluster.all());
}

void agree_on_error(const Cluster& cluster, const std::function<void()>& f) {
  int kind = 0;
  std::string message, help;
  SourceSpan span;
  try {
    f();
  } catch (const Error& e) {
    kind = static_cast<int>(e.kind());
    message = e.message();
    help = e.help();
    span = e.span();
  } catch (const std::bad_alloc&) {
    kind = static_cast<int>(Error::Kind::Resources);
    message = "out of memory";
  }
  int first = kind == 0 ? cluster.ranks() : cluster.rank();
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, cluster.all());
  if (first == cluster.ranks()) return;
  MPI_Bcast(&kind, 1, MPI_INT, first, cluster.all());
  for (std::string* text : {&message, &help}) broadcast_text(cluster, first, *text);
  broadcast_span(cluster, first, span);
  throw AgreedError(message, span, help, static_cast<Error::Kind>(kind));
}

void require_same(const Cluster& cluster, const std::string& what, const std::string& text) {
  uint64_t mine = std::hash<std::string>{}(text);
  uint64_t root = mine;
  MPI_Bcast(&root, 1, MPI_UINT64_T, 0, cluster.all());
  if (all_true(cluster.all(), mine == root)) return;
  std::string of_root = text;
  broadcast_text(cluster, 0, of_root);
  agree_on_error(cluster, [&] {
    if (mine == root) return;
    auto [here, there] = first_difference(text, of_root);
    throw Error(fmt::format("{} of rank {} differ from those of rank 0", what, cluster.rank()), {},
                fmt::format("rank {} has `{}`, rank 0 has `{}`; give all ranks the same", cluster.rank(), here, there));
  });
}

}  // namespace distal::core
