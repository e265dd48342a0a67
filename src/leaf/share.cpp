#include "leaf/share.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "support/checked.h"

namespace distal::core {

namespace {

// The largest output, in elements, of which each thread may have one of its own.
constexpr double kLargestOwnOutput = 1 << 14;

// The axis to cut: of those long enough for all, the one with the largest steps in the output, so that threads stay
// apart; or else the longest.
std::optional<size_t> axis_of_output(const Box& box, int64_t threads) {
  std::optional<size_t> best;
  auto rank = [&](size_t a) {
    const Axis& axis = box.axes[a];
    bool is_long = axis.extent >= kManyParts * threads;
    return std::tuple(is_long, is_long ? std::abs(axis.steps[0]) : axis.extent);
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
  Range mine = thread_range(box.axes[axis].extent, part, parts);
  out.axes[axis].extent = mine.last - mine.first;
  for (size_t o = 0; o < out.data.size(); ++o) out.data[o] += mine.first * box.axes[axis].steps[o] * bytes;
  return out;
}

// The box with its output at another, dense place.
Box with_output(const Box& box, std::byte* output) {
  Box out = box;
  out.data[0] = output;
  int64_t step = 1;
  for (Axis& axis : out.axes) {
    if (axis.steps[0] == 0) continue;
    axis.steps[0] = step;
    step *= axis.extent;
  }
  return out;
}

template <class T>
void add_output(const Box& to, const Box& from) {
  absl::InlinedVector<Axis, 6> axes;
  for (size_t a = 0; a < to.axes.size(); ++a) {
    if (!to.is_sum(a)) axes.push_back({to.axes[a].extent, {to.axes[a].steps[0], from.axes[a].steps[0]}});
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

void share_sum(const BoxKernel& kernel, const Box& box, size_t axis, ElementType type, bool begin, Team& team) {
  thread_local std::vector<std::byte> own;
  int64_t bytes = size_of(type), parts = team.size();
  int64_t each = ceil_div(static_cast<int64_t>(box.volume(0)) * bytes, 64) * 64;
  own.assign(static_cast<size_t>(each * parts), std::byte{0});
  std::byte* outputs = own.data();
  auto part = [&](int i) {
    Box mine = part_of(box, axis, bytes, i, parts);
    if (i == 0) return kernel.run(mine, begin);
    kernel.run(with_output(mine, outputs + i * each), false);
  };
  team.run(part);
  for (int i = 1; i < parts; ++i) {
    Box from = with_output(box, outputs + i * each);
    with_element_type(type, [&](auto zero) { add_output<decltype(zero)>(box, from); });
  }
}

}  // namespace

// Loops may have nearly as many steps as there are integers, so nothing is multiplied by all of them.
Range thread_range(int64_t steps, int64_t part, int64_t parts) {
  auto begin = [&](int64_t p) { return steps / parts * p + std::min(p, steps % parts); };
  return {begin(part), begin(part + 1)};
}

void share(const BoxKernel& kernel, std::span<const Box> boxes, ElementType type, bool begin, Team* team) {
  const Box& first = boxes[0];
  if (boxes.size() == 1 && kernel.run_by_team(first, begin, team)) return;
  int64_t threads = team ? team->size() : 1;
  if (threads == 1 || points_of(boxes) < kWorthSharing) return kernel.run_joined(boxes, begin);
  if (std::optional<size_t> axis = axis_of_output(first, threads)) {
    auto part = [&](int i) {
      std::vector<Box> mine;
      for (const Box& box : boxes) {
        mine.push_back(part_of(box, *axis, size_of(type), i, threads));
        mine.back().sharers = threads;
      }
      kernel.run_joined(mine, begin);
    };
    return team->run(part);
  }
  std::optional<size_t> axis = axis_of_sum(first, threads);
  if (!axis || first.volume(0) > kLargestOwnOutput) return kernel.run_joined(boxes, begin);
  if (boxes.size() == 1) return share_sum(kernel, first, *axis, type, begin, *team);
  for (const Box& box : boxes) share(kernel, {&box, 1}, type, begin && &box == &first, team);
}

void share_in_turn(const BoxKernels& kernels, std::vector<Box> boxes, ElementType type, bool begin, Team* team) {
  for (auto box = boxes.begin(), end = box; box != boxes.end(); box = end) {
    const BoxKernel* kernel = kernel_for(kernels, *box);
    auto joins = [&](const Box& next) { return kernel->joins(*box, next) && kernel_for(kernels, next) == kernel; };
    end = std::find_if_not(box + 1, boxes.end(), joins);
    std::sort(box, end, [](const Box& a, const Box& b) { return a.first < b.first; });
    share(*kernel, {box, end}, type, begin, team);
    begin = false;
  }
}

}  // namespace distal::core
