#include "leaf/streamed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "leaf/compile.h"
#include "leaf/streamed_source.h"

namespace distal::core {

namespace {

// An output of more bytes, all threads' together, is written around the caches.
constexpr double kPastCache = 32 << 20;
// Where rows share something that goes along x, so much of it is taken at once: it stays in a near cache.
constexpr int64_t kSharedBytes = 128 << 10;
// A line of at least so many is cut into rows, each with a sum of its own.
constexpr int64_t kLongLine = 1024;
constexpr int64_t kPage = 4096;
constexpr int64_t kManyPages = 64;

struct Plane {
  Axis x, y;
  absl::InlinedVector<Axis, 6> around;
};

Axis still(size_t operands) { return {1, absl::InlinedVector<int64_t, 4>(operands, 0)}; }

bool strides(const Axis& axis, size_t operand) { return axis.steps[operand] != 0 && axis.steps[operand] != 1; }

int64_t largest_step(const Axis& a) { return *std::max_element(a.steps.begin(), a.steps.end()); }

// How much of what is read and written goes from one element to the next along an axis. An output that stays is best:
// its sum is in a register.
double smoothness(const Box& box, size_t axis) {
  double out = 0;
  for (size_t o = 0; o < box.data.size(); ++o) {
    double volume = box.volume(o) * (o == 0 ? 2 : 1);
    if (box.axes[axis].steps[o] == 1) out += volume;
    if (box.axes[axis].steps[o] == 0) out += volume / 2;
  }
  return out;
}

size_t choose_x(const Box& box) {
  size_t best = 0;
  for (size_t a = 1; a < box.axes.size(); ++a) {
    double better = smoothness(box, a) - smoothness(box, best);
    if (better > 0 || (better == 0 && box.axes[a].extent > box.axes[best].extent)) best = a;
  }
  return best;
}

// The axis beside x: along which an operand that strides along x goes from one element to the next, or else along which
// most of what goes along x stays, or else the one with the smallest steps.
size_t choose_y(const Box& box, size_t x) {
  auto rank = [&](size_t a) {
    double mends = 0, shared = 0;
    for (size_t o = 0; o < box.data.size(); ++o) {
      if (strides(box.axes[x], o) && box.axes[a].steps[o] == 1) mends += box.volume(o);
      if (box.has(x, o) && !box.has(a, o)) shared += box.volume(o);
    }
    return std::tuple(mends, shared, -largest_step(box.axes[a]));
  };
  size_t best = box.axes.size();
  for (size_t a = 0; a < box.axes.size(); ++a) {
    if (a != x && (best == box.axes.size() || rank(a) > rank(best))) best = a;
  }
  return best;
}

Plane choose_plane(const Box& box) {
  size_t operands = box.data.size();
  Plane out{still(operands), still(operands), {}};
  if (box.axes.empty()) return out;
  size_t x = choose_x(box), y = choose_y(box, x);
  out.x = box.axes[x];
  if (y < box.axes.size()) out.y = box.axes[y];
  for (size_t a = 0; a < box.axes.size(); ++a) {
    if (a != x && a != y) out.around.push_back(box.axes[a]);
  }
  return out;
}

class StreamedKernel : public BoxKernel {
 public:
  StreamedKernel(std::vector<LeafTerm> terms, ElementType type, bool accumulate)
      : terms_(std::move(terms)), type_(type), bytes_(size_of(type)), accumulate_(accumulate) {}

  bool takes(const Box&) const override { return true; }
  std::string description() const override { return "generated"; }
  std::string explain(const Box&, const std::vector<std::string>&) const override {
    return terms_.size() > 1 ? fmt::format("{} terms in one pass", terms_.size()) : "in one pass";
  }

  void prepare(const Box& box) const override { code(likely_shape(box)); }
  std::string source(const Box& box) const override { return plane_source(terms_, type_, likely_shape(box)); }

  void run(const Box& box, bool begin) const override {
    bool accumulate = accumulate_ && (!begin || box.has_sum());
    if (begin && accumulate) clear_output(box, bytes_);
    Plane plane = choose_plane(box);
    absl::InlinedVector<std::byte*, 4> data = box.data;
    int64_t rest = cut_long_line(plane, goes_past_cache(box, accumulate));
    PlaneFunction* function = code(shape_of(box, plane, accumulate));
    walk(plane, data, function);
    if (rest == 0) return;
    // What was left over when the sum was cut into rows of one length.
    Plane end = plane;
    for (size_t o = 0; o < data.size(); ++o) data[o] += plane.y.extent * plane.y.steps[o] * bytes_;
    end.x.extent = rest;
    end.y.extent = 1;
    walk(end, data, function);
  }

 private:
  PlaneShape likely_shape(const Box& box) const {
    Plane plane = choose_plane(box);
    cut_long_line(plane, goes_past_cache(box, accumulate_));
    return shape_of(box, plane, accumulate_);
  }

  // A plane that is one long line becomes one of several rows: several sums, or several streams. Says how much is left
  // over.
  int64_t cut_long_line(Plane& plane, bool past_cache) const {
    bool sums = plane.x.steps[0] == 0;
    if (plane.y.extent > 1 || !(sums || past_cache) || plane.x.extent < kLongLine) return 0;
    auto moving = std::count_if(plane.x.steps.begin() + 1, plane.x.steps.end(), [](int64_t s) { return s != 0; });
    int64_t rows = rows_at_once(sums, moving, false);
    if (rows == 1) return 0;
    int64_t length = apart(plane.x.extent / rows);
    int64_t rest = plane.x.extent - length * rows;
    plane.y.extent = rows;
    for (size_t o = 0; o < plane.y.steps.size(); ++o) plane.y.steps[o] = length * plane.x.steps[o];
    plane.x.extent = length;
    return rest;
  }

  // A length of about so many elements, an odd number of pages if it is long: streams at a distance of a power of two
  // are in each other's way.
  int64_t apart(int64_t elements) const {
    int64_t page = kPage / bytes_, pages = elements / page;
    return pages > kManyPages ? ((pages - 1) | 1) * page : elements;
  }

  bool goes_past_cache(const Box& box, bool accumulate) const {
    double output = box.volume(0) * static_cast<double>(box.sharers);
    return !accumulate && output * static_cast<double>(bytes_) > kPastCache;
  }

  PlaneShape shape_of(const Box& box, const Plane& plane, bool accumulate) const {
    PlaneShape out;
    for (size_t o = 0; o < box.data.size(); ++o) {
      int64_t step = plane.x.steps[o];
      out.x.push_back(step == 0 ? Pace::Still : step == 1 ? Pace::Next : Pace::Further);
      out.moves.push_back(plane.y.steps[o] != 0);
    }
    out.accumulate = accumulate;
    out.past_cache = goes_past_cache(box, accumulate);
    return out;
  }

  // How much of x is taken at once.
  int64_t piece_of_x(const Plane& plane) const {
    for (size_t o = 0; o < plane.x.steps.size(); ++o) {
      if (plane.x.steps[o] != 0 && plane.y.steps[o] == 0 && plane.y.extent > 1) return kSharedBytes / bytes_;
    }
    return plane.x.extent;
  }

  void walk(const Plane& plane, const absl::InlinedVector<std::byte*, 4>& start, PlaneFunction* function) const {
    int64_t piece = piece_of_x(plane);
    for_each(plane.around, start, bytes_, [&](const absl::InlinedVector<std::byte*, 4>& at) {
      absl::InlinedVector<void*, 4> data(at.begin(), at.end());
      for (int64_t x = 0; x < plane.x.extent; x += piece) {
        function(std::min(piece, plane.x.extent - x), plane.y.extent, data.data(), plane.x.steps.data(),
                 plane.y.steps.data());
        for (size_t o = 0; o < data.size(); ++o) {
          data[o] = static_cast<std::byte*>(data[o]) + piece * plane.x.steps[o] * bytes_;
        }
      }
    });
  }

  PlaneFunction* code(const PlaneShape& shape) const {
    {
      std::shared_lock lock(mutex_);
      auto found = code_.find(shape);
      if (found != code_.end()) return found->second.function<PlaneFunction>();
    }
    std::unique_lock lock(mutex_);
    auto [at, fresh] = code_.try_emplace(shape);
    if (fresh) {
      try {
        at->second = compile_leaf(plane_source(terms_, type_, shape), {.reassociate = true});
      } catch (...) {
        code_.erase(at);
        throw;
      }
    }
    return at->second.function<PlaneFunction>();
  }

  std::vector<LeafTerm> terms_;
  ElementType type_;
  int64_t bytes_;
  bool accumulate_;
  mutable std::shared_mutex mutex_;
  mutable std::map<PlaneShape, CompiledLeaf> code_;
};

}  // namespace

std::unique_ptr<BoxKernel> make_streamed_kernel(const std::vector<LeafTerm>& terms, ElementType type, bool accumulate) {
  return std::make_unique<StreamedKernel>(terms, type, accumulate);
}

}  // namespace distal::core
