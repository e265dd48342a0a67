// The kernel of leaves that stream their operands: sums are added in registers, and memory sets the speed. Neighbouring
// threads read neighbouring elements, 16 bytes at once where the memory allows it. Sums are added in an order that
// depends on sizes and strides alone. Nothing here depends on Legion.
#pragma once

#include "box.h"

namespace distal_gpu {

// How the work of a launch is divided. A group is a set of outputs that the same threads compute.
struct Division {
  Int groups = 1, chunks = 1,
      row_groups = 1;         // all; along the inner index, if it is the output's; along the reused one
  int team = 1;               // threads that share the sums of a group: a power of 2
  int step_shift = 0;         // a team adds 2^step_shift elements in a step
  Int slices = 1;             // parts of the sums of a group; each has a team of its own
  Int piece = 1, pieces = 1;  // of the sum along which a team runs
  Int units = 1;              // pieces for all values of the other sums
  void* partials = nullptr;   // the sums of all slices, unless there is one slice
};

constexpr Int kManyThreads = Int{1} << 19;  // enough to fill a GPU twice
constexpr Int kTeamsAtOnce = Int{1} << 12;  // the teams that a large GPU runs at the same time
constexpr Int kManySlices = 256;            // with more slices, adding up their sums takes too long
constexpr Int kSteps = 16;                  // of a thread in a unit; with fewer, more slices gain nothing
constexpr int kRows = 4;                    // values of the reused index in a group

template <class T>
constexpr int kVector = sizeof(T) < 16 ? static_cast<int>(16 / sizeof(T)) : 1;

template <class T, int N>
struct alignas(N * sizeof(T)) Vector {
  T element[N];
};

template <class Leaf>
struct Loops {
  // True: the threads of a team add along the inner index. False: neighbouring threads have neighbouring outputs.
  static constexpr bool kTeams = Leaf::kInner >= Leaf::kOutputs;
  // The sum along which a thread runs; -1 if there is no sum, and threads only assign.
  static constexpr int kAlong = kTeams ? Leaf::kInner : Leaf::kIndices > Leaf::kOutputs ? Leaf::kIndices - 1 : -1;
};

// The elements of a leaf's operands at N neighbours along the inner index, for R values of the reused index.
template <class Leaf, int N, int R>
class Elements {
 public:
  using T = typename Leaf::T;
  using C = typename Leaf::C;

  // `rows`: how many of the R values there are. The others get the elements of the last one.
  __device__ void load(const Box<Leaf>& box, const Point<Leaf>& point, int rows) { load_from<1>(box, point, rows); }

  // The value at neighbour n and row r.
  __device__ C value(const Box<Leaf>& box, const Point<Leaf>& point, int n, int r) const {
    C values[Leaf::kOperands];
#pragma unroll
    for (int o = 1; o < Leaf::kOperands; ++o) {
      values[o] = of_[o][(Leaf::kAlongReused >> o & 1) != 0 ? r : 0][(Leaf::kAlongInner >> o & 1) != 0 ? n : 0];
    }
    Int at[Leaf::kIndices];
#pragma unroll
    for (int v = 0; v < Leaf::kIndices; ++v) {
      at[v] = box.lowest[v] + point.at[v] + (v == Leaf::kInner ? n : 0) + (v == Leaf::kReused ? r : 0);
    }
    return Leaf::value(values, at, box.param);
  }

 private:
  template <int O>
  __device__ void load_from(const Box<Leaf>& box, const Point<Leaf>& point, int rows) {
    if constexpr (O < Leaf::kOperands) {
      constexpr bool kRowsDiffer = R > 1 && (Leaf::kAlongReused >> O & 1) != 0;
#pragma unroll
      for (int r = 0; r < (kRowsDiffer ? R : 1); ++r) {
        const T* from = box.data[O] + point.offset[O];
        if constexpr (kRowsDiffer) from += (r < rows ? r : rows - 1) * box.stride[O][Leaf::kReused];
        if constexpr (N > 1 && (Leaf::kAlongInner >> O & 1) != 0) {
          const Vector<T, N> all = *reinterpret_cast<const Vector<T, N>*>(from);
#pragma unroll
          for (int n = 0; n < N; ++n) of_[O][r][n] = C(all.element[n]);
        } else {
          of_[O][r][0] = C(*from);
        }
      }
      load_from<O + 1>(box, point, rows);
    }
  }

  C of_[Leaf::kOperands][R][N];
};

// Adds the values at U steps of a thread to its sums, and moves the point past them. All elements are loaded before the
// first one is used, so that many loads are under way. sum[r * STEP + n] is that of row r and neighbour n; a team's
// thread has one sum for each row.
template <class Leaf, int N, int R, int U, int STEP>
__device__ void add_steps(const Box<Leaf>& box, Point<Leaf>& point, int rows, Int step, typename Leaf::C* sum) {
  constexpr int kAlong = Loops<Leaf>::kAlong;
  Elements<Leaf, N, R> elements[U];
  Point<Leaf> points[U];
#pragma unroll
  for (int u = 0; u < U; ++u) {
    points[u] = point;
    elements[u].load(box, point, rows);
    point.move(box, kAlong, step);
  }
#pragma unroll
  for (int i = 0; i < U * R * N; ++i) {
    const int u = i / (R * N), r = i / N % R, n = i % N;
    sum[r * STEP + (Loops<Leaf>::kTeams ? 0 : n)] += elements[u].value(box, points[u], n, r);
  }
}

// Adds the values of a slice to the sums of a thread. Slices have units in turn, so that all threads that run at the
// same time read memory that lies together.
template <class Leaf, int N, int R, int STEP>
__device__ void add_slice(const Box<Leaf>& box, const Division& division, const Point<Leaf>& origin, int rows,
                          Int slice, int member, typename Leaf::C* sum) {
  constexpr bool kTeams = Loops<Leaf>::kTeams;
  constexpr int kAlong = Loops<Leaf>::kAlong;
  constexpr int kAtOnce = R > 1 ? 2 : 4;
  const Int step = kTeams ? division.team * N : 1;
  for (Int unit = slice; unit < division.units; unit += division.slices) {
    Point<Leaf> point = origin;
    Int rest = unit;
    const Int begin = take(rest, division.pieces) * division.piece;
    const Int end = begin + division.piece < box.count[kAlong] ? begin + division.piece : box.count[kAlong];
    point.move_to(box, rest, Leaf::kOutputs, Leaf::kIndices, kAlong);
    const Int x = begin + (kTeams ? member * N : 0);
    point.move(box, kAlong, x);
    // Whole steps, then what remains of the thread's last one.
    Int steps = kTeams ? (end - x - N + step) >> division.step_shift : end - x;
    for (; steps >= kAtOnce; steps -= kAtOnce) add_steps<Leaf, N, R, kAtOnce, STEP>(box, point, rows, step, sum);
    for (; steps > 0; --steps) add_steps<Leaf, N, R, 1, STEP>(box, point, rows, step, sum);
    if (kTeams && N > 1) {
      Int left = end - point.at[kAlong];
      for (; left > 0 && left < N; --left) add_steps<Leaf, 1, R, 1, STEP>(box, point, rows, 1, sum);
    }
  }
}

// The number of an output among all.
template <class Leaf>
__device__ Int number_of(const Box<Leaf>& box, const Point<Leaf>& point) {
  Int out = 0;
#pragma unroll
  for (int v = 0; v < Leaf::kOutputs; ++v) out = out * box.count[v] + point.at[v];
  return out;
}

template <class Leaf>
__device__ void put(typename Leaf::T& to, const typename Leaf::C& sum) {
  using T = typename Leaf::T;
  to = Leaf::kAdds ? T(typename Leaf::C(to) + sum) : T(sum);
}

// Puts the sums of N neighbours of a row into the output, or among the partial sums.
template <class Leaf, int N>
__device__ void put_row(const Box<Leaf>& box, const Division& division, Point<Leaf> point, Int slice, int neighbours,
                        const typename Leaf::C* sum) {
  using T = typename Leaf::T;
  using C = typename Leaf::C;
  if (!division.partials && N > 1 && neighbours == N) {
    auto* to = reinterpret_cast<Vector<T, N>*>(box.data[0] + point.offset[0]);
    Vector<T, N> all;
    if (Leaf::kAdds) all = *to;
#pragma unroll
    for (int n = 0; n < N; ++n) put<Leaf>(all.element[n], sum[n]);
    *to = all;
    return;
  }
#pragma unroll
  for (int n = 0; n < N; ++n) {
    if (n >= neighbours) break;
    if (division.partials) {
      static_cast<C*>(division.partials)[slice * box.outputs() + number_of(box, point)] = sum[n];
    } else {
      put<Leaf>(box.data[0][point.offset[0]], sum[n]);
    }
    if (N > 1) point.move(box, Leaf::kInner, 1);
  }
}

// Computes a box. N: neighbours that a thread loads at once; R: rows in a group.
template <class Leaf, int N, int R>
__global__ void __launch_bounds__(kBlock) compute(const Box<Leaf> box, const Division division) {
  using C = typename Leaf::C;
  constexpr bool kTeams = Loops<Leaf>::kTeams;
  constexpr int kOwn = kTeams ? 1 : N;  // outputs of a thread in each row
  const int member = static_cast<int>(threadIdx.x) % division.team, teams = kBlock / division.team;
  const Int all = division.groups * division.slices;
  // All threads of a warp stay in the loop until none of them has work, because they exchange their sums.
  for (Int first = Int{blockIdx.x} * teams; first < all; first += Int{gridDim.x} * teams) {
    const Int mine = first + threadIdx.x / division.team;
    const bool has_work = mine < all;
    if (!kTeams && !has_work) continue;
    Int rest = has_work ? mine : all - 1;
    Point<Leaf> point;
    // The next team reads the memory that follows: the next slice, then the next rows.
    const Int slice_of_team = kTeams ? take(rest, division.slices) : 0;
    if (!kTeams) point.move(box, Leaf::kInner, take(rest, division.chunks) * N);
    int rows = 1;
    if constexpr (R > 1) {
      point.move(box, Leaf::kReused, take(rest, division.row_groups) * R);
      const Int left = box.count[Leaf::kReused] - point.at[Leaf::kReused];
      rows = left < R ? static_cast<int>(left) : R;
    }
    point.move_to(box, rest, 0, Leaf::kOutputs, kTeams ? -1 : Leaf::kInner, R > 1 ? Leaf::kReused : -1);
    const Int slice = kTeams ? slice_of_team : rest;
    const Int left = kTeams ? 1 : box.count[Leaf::kInner] - point.at[Leaf::kInner];
    const int neighbours = left < kOwn ? static_cast<int>(left) : kOwn;
    C sum[R * kOwn] = {};
    if (kTeams || neighbours == N) {
      add_slice<Leaf, N, R, kOwn>(box, division, point, rows, slice, member, sum);
    } else {
      Point<Leaf> one = point;
      for (int n = 0; n < neighbours; ++n) {
        C alone[R] = {};
        add_slice<Leaf, 1, R, 1>(box, division, one, rows, slice, member, alone);
#pragma unroll
        for (int i = 0; i < R * kOwn; ++i) {
          if (i % kOwn == n) sum[i] = alone[i / kOwn];
        }
        one.move(box, Leaf::kInner, 1);
      }
    }
    for (int lanes = division.team / 2; kTeams && lanes > 0; lanes /= 2) {
#pragma unroll
      for (int r = 0; r < R; ++r) sum[r] += from_lane(sum[r], lanes);
    }
    if (!has_work || member != 0) continue;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (r < rows) put_row<Leaf, kOwn>(box, division, point, slice, neighbours, sum + r * kOwn);
      if (R > 1) point.move(box, Leaf::kReused, 1);
    }
  }
}

// Adds the partial sums of all slices. A block has `width` neighbouring outputs; the threads of an output share its
// slices, and have a sum each in shared memory.
template <class Leaf>
__global__ void __launch_bounds__(kBlock) add_partials(const Box<Leaf> box, const Division division, int width) {
  using C = typename Leaf::C;
  C* sums = reinterpret_cast<C*>(shared_memory());
  const C* partials = static_cast<const C*>(division.partials);
  const int column = static_cast<int>(threadIdx.x) % width, part = static_cast<int>(threadIdx.x) / width;
  const int parts = static_cast<int>(kBlock) / width;
  const Int outputs = box.outputs();
  for (Int first = Int{blockIdx.x} * width; first < outputs; first += Int{gridDim.x} * width) {
    const Int output = first + column;
    C sum = C(0);
    for (Int s = part; s < division.slices && output < outputs; s += parts) sum += partials[s * outputs + output];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = parts / 2; half > 0; half /= 2) {
      if (part < half) sums[threadIdx.x] += sums[static_cast<int>(threadIdx.x) + half * width];
      __syncthreads();
    }
    if (part > 0 || output >= outputs) continue;
    Point<Leaf> point;
    Int rest = output;
    point.move_to(box, rest, 0, Leaf::kOutputs);
    put<Leaf>(box.data[0][point.offset[0]], sums[threadIdx.x]);
  }
}

// Computes a box without sums. A thread has U vectors of N neighbours, and loads all of them first.
template <class Leaf, int N, int U>
__global__ void __launch_bounds__(kBlock) assign(const Box<Leaf> box, const Division division) {
  using C = typename Leaf::C;
  for (Int first = Int{blockIdx.x} * kBlock * U; first < division.groups; first += Int{gridDim.x} * kBlock * U) {
    Elements<Leaf, N, 1> elements[U];
    Point<Leaf> points[U];
    int neighbours[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      Int rest = first + u * static_cast<int>(kBlock) + threadIdx.x;
      neighbours[u] = 0;
      if (rest >= division.groups) continue;
      points[u].move(box, Leaf::kInner, take(rest, division.chunks) * N);
      points[u].move_to(box, rest, 0, Leaf::kOutputs, Leaf::kInner);
      const Int left = box.count[Leaf::kInner] - points[u].at[Leaf::kInner];
      neighbours[u] = left < N ? static_cast<int>(left) : N;
      if (left >= N) elements[u].load(box, points[u], 1);
    }
#pragma unroll
    for (int u = 0; u < U; ++u) {
      C values[N] = {};
      if (neighbours[u] == N) {
#pragma unroll
        for (int n = 0; n < N; ++n) values[n] += elements[u].value(box, points[u], n, 0);
        put_row<Leaf, N>(box, division, points[u], 0, N, values);
      }
      for (int n = 0; N > 1 && neighbours[u] < N && n < neighbours[u]; ++n) {
        Elements<Leaf, 1, 1> one;
        one.load(box, points[u], 1);
        const C value = C(0) + one.value(box, points[u], 0, 0);
        put_row<Leaf, 1>(box, division, points[u], 0, 1, &value);
        points[u].move(box, Leaf::kInner, 1);
      }
    }
  }
}

inline Int ceildiv(Int a, Int b) { return (a + b - 1) / b; }

template <class Leaf, int N, int R>
Division divide(const Box<Leaf>& box, const Device& device) {
  constexpr bool kTeams = Loops<Leaf>::kTeams;
  constexpr int kAlong = Loops<Leaf>::kAlong;
  Division out;
  const Int inner = box.count[Leaf::kInner];
  out.groups = box.outputs();
  if (!kTeams) {
    out.chunks = ceildiv(inner, N);
    out.groups = out.groups / inner * out.chunks;
  }
  if constexpr (R > 1) {
    out.row_groups = ceildiv(box.count[Leaf::kReused], R);
    out.groups = out.groups / box.count[Leaf::kReused] * out.row_groups;
  }
  while (kTeams && out.team < static_cast<int>(kWarp) && out.team * N < inner) out.team *= 2;
  while (kTeams && 1 << out.step_shift < out.team * N) ++out.step_shift;
  const Int along = box.count[kAlong], step = Int{1} << out.step_shift;
  if (box.sums() == 0) {
    out.units = 0;
    return out;
  }
  // As many slices as gain time and have room for their sums. A team reads contiguous memory, and its slice is short
  // unless that would make too many slices. Then the threads that run at the same time go through memory together.
  const Int others = box.sums() / along;
  const Int wanted = std::min(others * ceildiv(along, step) / kSteps,
                              static_cast<Int>(device.scratch_bytes / sizeof(typename Leaf::C)) / box.outputs());
  const Int most = kTeams ? std::max(kManySlices, kTeamsAtOnce / out.groups) : ceildiv(kManyThreads, out.groups);
  out.slices = std::max(Int{1}, std::min(wanted, most));
  if (kTeams) {
    out.piece = out.slices == 1 ? along : std::min(kSteps * step, ceildiv(along, step) * step);
  } else {
    out.piece = ceildiv(along, ceildiv(out.slices, others));
  }
  out.pieces = ceildiv(along, out.piece);
  out.units = others * out.pieces;
  out.slices = std::min(out.slices, out.units);
  if (out.slices > 1) out.partials = device.scratch;
  return out;
}

template <class Leaf, int N, int R>
void start(const Box<Leaf>& box, const Device& device) {
  const Division division = divide<Leaf, N, R>(box, device);
  launch(compute<Leaf, N, R>, division.groups * division.slices * division.team, device.stream, box, division);
  if (!division.partials) return;
  const Int least = std::min(box.outputs(), Int{kWarp});
  int width = kBlock;
  while (width / 2 >= least && static_cast<Int>(kBlock) / width * 2 <= division.slices) width /= 2;
  launch_blocks(add_partials<Leaf>, blocks_for(ceildiv(box.outputs(), width) * kBlock), kBlock,
                kBlock * sizeof(typename Leaf::C), device.stream, box, division, width);
}

template <class Leaf, int N>
void start_rows(const Box<Leaf>& box, const Device& device) {
  if constexpr (Loops<Leaf>::kAlong < 0) {
    constexpr int kVectors = 4;
    Division division;
    division.chunks = ceildiv(box.count[Leaf::kInner], N);
    division.groups = box.outputs() / box.count[Leaf::kInner] * division.chunks;
    return launch(assign<Leaf, N, kVectors>, ceildiv(division.groups, kVectors), device.stream, box, division);
  } else if constexpr (Leaf::kReused >= 0) {
    if (box.count[Leaf::kReused] >= kRows) return start<Leaf, N, kRows>(box, device);
  }
  if constexpr (Loops<Leaf>::kAlong >= 0) start<Leaf, N, 1>(box, device);
}

// Computes a leaf over a box.
template <class Leaf>
void compute_box(Box<Leaf> box, const Device& device) {
  if (box.outputs() == 0 || (Leaf::kAdds && box.is_empty())) return;
  if (!Leaf::kHasConditions) box.fold();
  if constexpr (kVector < typename Leaf::T >> 1) {
    if (box.fits_vectors()) return start_rows<Leaf, kVector<typename Leaf::T>>(box, device);
  }
  start_rows<Leaf, 1>(box, device);
}

}  // namespace distal_gpu
