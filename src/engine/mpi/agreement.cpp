#include "engine/mpi/agreement.h"

#include <fmt/format.h>

#include <sstream>

#include "engine/mpi/transport.h"
#include "support/checked.h"
#include "support/text.h"

namespace distal::core {

namespace {

// Stands for Interrupted among the kinds of errors.
constexpr int kInterrupted = -1;

// Also sends the source text that the span points into: other ranks may not have the file.
void broadcast_span(const Cluster& cluster, int from, SourceSpan& span) {
  int numbers[] = {span.line, span.column, span.length, span.source ? 1 : 0};
  MPI_Bcast(numbers, 4, MPI_INT, from, cluster.all());
  Source source = span.source ? *span.source : Source{};
  for (std::string* text : {&source.name, &source.text}) broadcast_text(cluster, from, *text);
  span = {numbers[3] ? std::make_shared<const Source>(std::move(source)) : nullptr, numbers[0], numbers[1], numbers[2]};
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

void require_node_memory(int64_t need, int64_t have) {
  if (need <= have) return;
  throw Error(fmt::format("the run needs {} on this node, which has {}", bytes_in_full(need), bytes_in_full(have)), {},
              "choose smaller sizes, or more nodes", Error::Kind::Resources);
}

void end_job_on_failure(const Cluster& cluster, const std::function<void()>& f) {
  try {
    f();
  } catch (const AgreedError&) {
    throw;
  } catch (const AgreedInterruption&) {
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
  } catch (const Interrupted&) {
    kind = kInterrupted;
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
  if (kind == kInterrupted) throw AgreedInterruption();
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
