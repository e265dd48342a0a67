#include "tune/touched.h"

#include <algorithm>

#include "plan/rect.h"

namespace distal::core {

namespace {

// The rectangles of the accesses, each once.
std::vector<Rect> rects_of(const ProcessorView& view) {
  const ShapeTensor& tensor = view.tensor();
  std::vector<Rect> rects;
  std::vector<ShapeAccess> accesses = tensor.accesses;
  if (tensor.is_simple()) accesses = {{tensor.indices, std::vector<int64_t>(tensor.indices.size(), 0)}};
  for (const ShapeAccess& access : accesses) {
    Rect rect;
    for (size_t d = 0; d < access.indices.size(); ++d) {
      auto index = static_cast<size_t>(access.indices[d]);
      rect.lo.push_back(view.start(index) + access.offsets[d]);
      rect.hi.push_back(rect.lo.back() + view.length(index));
    }
    if (std::find(rects.begin(), rects.end(), rect) == rects.end()) rects.push_back(std::move(rect));
  }
  return rects;
}

int64_t owned_of(const ProcessorView& view, const Rect& rect) {
  int64_t owned = view.owns_face() ? 1 : 0;
  for (size_t d = 0; d < view.dimensions().size(); ++d) {
    owned *= view.dimensions()[d].sum_over_runs([&](const Extent& run) {
      return Extent{std::max(run.lo, rect.lo[d]), std::min(run.hi, rect.hi[d])}.length();
    });
  }
  return owned;
}

bool is_in_one_run(const ProcessorView& view, const Rect& rect) {
  bool is_in = view.owns_face();
  for (size_t d = 0; is_in && d < view.dimensions().size(); ++d) {
    is_in = view.dimensions()[d].sum_over_runs(
                [&](const Extent& run) { return int64_t{run.lo <= rect.lo[d] && rect.hi[d] <= run.hi}; }) > 0;
  }
  return is_in;
}

// What a processor touches, owns and copies of these rectangles, if it has copies of `held`.
Touched touched_of(const ProcessorView& view, const std::vector<Rect>& rects, const std::vector<Rect>& held) {
  Touched touched;
  std::vector<Rect> copies;
  for (const Rect& rect : rects) {
    if (is_in_one_run(view, rect)) {
      touched.owned += rect.volume();
      continue;
    }
    for (const Rect& part : subtract(rect, copies)) {
      int64_t owned = owned_of(view, part), foreign = 0;
      for (const Rect& missing : subtract(part, held)) foreign += missing.volume() - owned_of(view, missing);
      touched.owned += owned;
      touched.foreign += foreign;
      touched.keeps = touched.keeps || owned + foreign < part.volume();
    }
    touched.copied += rect.volume();
    copies.push_back(rect);
  }
  return touched;
}

}  // namespace

Touched touched_at_once(const ProcessorView& view) { return touched_of(view, rects_of(view), {}); }

Touched touched_in_steps(ProcessorView& view) {
  const std::vector<SequentialLoop>& all = view.candidate().loops;
  size_t loops = all.size();  // up to the innermost one that changes what the tensor needs
  while (loops > 0 && !view.tensor().has_index(all[loops - 1].index)) --loops;
  Touched sum;
  std::vector<Rect> held;
  view.for_each_step(loops, [&] {
    std::vector<Rect> rects = rects_of(view);
    if (rects == held) return;
    Touched touched = touched_of(view, rects, view.tensor_number() == 0 ? std::vector<Rect>{} : held);
    sum.owned += touched.owned;
    sum.foreign += touched.foreign;
    sum.copied = std::max(sum.copied, touched.copied);
    sum.keeps = sum.keeps || touched.keeps;
    held = std::move(rects);
  });
  if (sum.keeps) sum.copied *= 2;
  return sum;
}

}  // namespace distal::core
