// Measures how fast strided elements are sent: by MPI datatypes, or packed into a contiguous buffer. Rank 0 sends some
// columns of a matrix to rank 1.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "engine/mpi/datatype.h"

using namespace distal::core;

namespace {

constexpr int64_t kBytes = 1 << 20;  // of a segment
constexpr int64_t kSegments = 16;

// The first `width` columns of a row-major matrix, in segments of kBytes, and a buffer for one packed segment.
struct Columns {
  std::vector<double> memory, packed;
  std::vector<Rect> rects;
  View view;

  explicit Columns(int64_t width) {
    int64_t rows = kBytes / 8 / width, stride = 2 * width + 8;
    memory.assign(static_cast<size_t>(kSegments * rows * stride), 1.0);
    packed.assign(static_cast<size_t>(kBytes / 8), 0.0);
    view = {reinterpret_cast<std::byte*>(memory.data()), 0, {stride, 1}};
    for (int64_t s = 0; s < kSegments; ++s) rects.push_back({{s * rows, 0}, {(s + 1) * rows, width}});
  }
  View packed_view(const Rect& rect) { return dense_view(reinterpret_cast<std::byte*>(packed.data()), rect, {0, 1}); }
};

void by_datatype(Columns& c, const Rect& rect, int rank) {
  Datatype type({{c.view, rect}}, 8);
  if (rank == 0) {
    MPI_Send(MPI_BOTTOM, 1, type.get(), 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(MPI_BOTTOM, 1, type.get(), 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

void by_packing(Columns& c, const Rect& rect, int rank) {
  if (rank == 0) {
    copy_rect(ElementType::Double, c.packed_view(rect), c.view, rect);
    MPI_Send(c.packed.data(), kBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(c.packed.data(), kBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    copy_rect(ElementType::Double, c.view, c.packed_view(rect), rect);
  }
}

// The best time of several rounds, in seconds.
template <class Send>
double time_of(Columns& c, int rank, Send send) {
  double best = INFINITY;
  for (int round = 0; round < 7; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    auto start = std::chrono::steady_clock::now();
    for (const Rect& rect : c.rects) send(c, rect, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) {
    if (rank == 0) std::fputs("usage: mpirun -np 2 bench_mpi_packing\n", stderr);
    MPI_Finalize();
    return 2;
  }
  if (rank == 0) std::puts("doubles in a row   by datatypes, GB/s   by packing, GB/s");
  for (int64_t width : {1, 2, 4, 8, 16, 64, 512, 4096}) {
    Columns c(width);
    double typed = time_of(c, rank, by_datatype), packed = time_of(c, rank, by_packing);
    double bytes = double(kBytes) * kSegments;
    if (rank == 0) {
      std::printf("%16lld %20.2f %18.2f\n", static_cast<long long>(width), 1e-9 * bytes / typed, 1e-9 * bytes / packed);
    }
  }
  MPI_Finalize();
  return 0;
}
