#include "leaf/share.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "support/checked.h"

namespace distal::core {

namespace {

// The largest output, in elements, that each thread may have a private copy of.
constexpr double kLargestPrivateOutput = 1 << 14;

// The axis of the output to cut. If some axes are long enough to balance the threads, the one with the largest stride
// in the output, so that threads write far from each other. Otherwise the longest.
std::optional<size_t> axis_of_output(const Box& box, int64_t threads) {
  std::optional<size_t> best;
  auto rank = [&](size_t a) {
    const Axis& axis = box.axes[a];
    bool is_long = axis.extent >= kBalancedIterations * threads;
    return std::tuple(is_long, is_long ? std::abs(axis.strides[0]) : axis.extent);
  };
  for (size_t a = 0; a < box.axes.size(); ++a) {
    if (box.is_sum(a) || box.axes[a].extent < threads) continue;
    if (!best || rank(a) > rank(*best)) best = a;
  }
  return best;
}

std::optional<size_t> axis_of_sum(const Box& box, int64_t threads) {
  std::optional<size_t> best;
  for (size_t a = 0; a < box.axes.size(); ++a) {
    if (!box.is_sum(a) || box.axes[a].extent < threads) continue;
    if (!best || box.axes[a].extent > box.axes[*best].extent) best = a;
  }
  return best;
}

Box part_of(const Box& box, size_t axis, int64_t bytes, int64_t part, int64_t parts) {
  Box out = box;
  IterationRange mine = thread_range(box.axes[axis].extent, part, parts);
  out.axes[axis].extent = mine.last - mine.first;
  absl::InlinedVector<std::byte*, 4> data = box.data;
  for (size_t o = 0; o < data.size(); ++o) data[o] += mine.first * box.axes[axis].strides[o] * bytes;
  out.set_data(std::move(data));
  return out;
}

// The box with its output replaced by a dense array at `output`.
Box with_output(const Box& box, std::byte* output) {
  Box out = box;
  absl::InlinedVector<std::byte*, 4> data = box.data;
  data[0] = output;
  out.set_data(std::move(data));
  int64_t stride = 1;
  for (Axis& axis : out.axes) {
    if (axis.strides[0] == 0) continue;
    axis.strides[0] = stride;
    stride *= axis.extent;
  }
  return out;
}

template <class T>
void add_output(const Box& to, const Box& from) {
  absl::InlinedVector<Axis, 6> axes;
  for (size_t a = 0; a < to.axes.size(); ++a) {
    if (!to.is_sum(a)) axes.push_back({to.axes[a].extent, {to.axes[a].strides[0], from.axes[a].strides[0]}});
  }
  for_each(axes, {to.data[0], from.data[0]}, sizeof(T), [](const auto& at) {
    T& sum = *reinterpret_cast<T*>(at[0]);
    sum = wrapping_add(sum, *reinterpret_cast<const T*>(at[1]));
  });
}

double points_of(std::span<const Box> boxes) {
  double sum = 0;
  for (const Box& box : boxes) sum += box.points();
  return sum;
}

void share_sum(const BoxKernel& kernel, const Box& box, size_t axis, ElementType type, bool overwrite, Team& team) {
  thread_local std::vector<std::byte> memory;
  int64_t bytes = size_of(type), parts = team.size();
  int64_t each = ceil_div(static_cast<int64_t>(box.volume(0)) * bytes, 64) * 64;
  memory.assign(static_cast<size_t>(each * parts), std::byte{0});
  std::byte* outputs = memory.data();
  auto part = [&](int i) {
    Box mine = part_of(box, axis, bytes, i, parts);
    if (i == 0) return kernel.run(mine, overwrite);
    kernel.run(with_output(mine, outputs + i * each), false);
  };
  team.run(part);
  for (int i = 1; i < parts; ++i) {
    Box from = with_output(box, outputs + i * each);
    with_element_type(type, [&](auto zero) { add_output<decltype(zero)>(box, from); });
  }
}

}  // namespace

// Loops may have up to 2^62 iterations, so `iterations` is divided before anything is multiplied.
IterationRange thread_range(int64_t iterations, int64_t part, int64_t parts) {
  auto begin = [&](int64_t p) { return iterations / parts * p + std::min(p, iterations % parts); };
  return {begin(part), begin(part + 1)};
}

void share(const BoxKernel& kernel, std::span<const Box> boxes, ElementType type, bool overwrite, Team* team) {
  const Box& first = boxes[0];
  if (boxes.size() == 1 && kernel.run_by_team(first, overwrite, team)) return;
  int64_t threads = team ? team->size() : 1;
  if (threads == 1 || points_of(boxes) < kWorthSharing) return kernel.run_joined(boxes, overwrite);
  if (std::optional<size_t> axis = axis_of_output(first, threads)) {
    auto part = [&](int i) {
      std::vector<Box> mine;
      for (const Box& box : boxes) {
        mine.push_back(part_of(box, *axis, size_of(type), i, threads));
        mine.back().sharers = threads;
      }
      kernel.run_joined(mine, overwrite);
    };
    return team->run(part);
  }
  std::optional<size_t> axis = axis_of_sum(first, threads);
  if (!axis || first.volume(0) > kLargestPrivateOutput) return kernel.run_joined(boxes, overwrite);
  if (boxes.size() == 1) return share_sum(kernel, first, *axis, type, overwrite, *team);
  for (const Box& box : boxes) share(kernel, {&box, 1}, type, overwrite && &box == &first, team);
}

void share_in_turn(const BoxKernels& kernels, std::vector<Box> boxes, ElementType type, bool overwrite, Team* team) {
  for (auto box = boxes.begin(), end = box; box != boxes.end(); box = end) {
    const BoxKernel* kernel = kernel_for(kernels, *box);
    auto joins = [&](const Box& next) { return kernel->can_join(*box, next) && kernel_for(kernels, next) == kernel; };
    end = std::find_if_not(box + 1, boxes.end(), joins);
    std::sort(box, end, [](const Box& a, const Box& b) { return a.first < b.first; });
    share(*kernel, {box, end}, type, overwrite, team);
    overwrite = false;
  }
}

}  // namespace distal::core
