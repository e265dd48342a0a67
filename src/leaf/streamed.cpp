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

// An output with more bytes than this, of all threads together, is written with non-temporal stores.
constexpr double kNontemporalBytes = 32 << 20;
// If rows share an operand along x, x is cut into chunks of this size, so that the operand stays in a cache.
constexpr int64_t kSharedBytes = 128 << 10;
// A single row with at least this many elements is cut into several rows.
constexpr int64_t kLongRow = 1024;
constexpr int64_t kPage = 4096;
constexpr int64_t kManyPages = 64;

struct Plane {
  Axis x, y;  // x is the inner loop
  absl::InlinedVector<Axis, 6> outer;
};

Axis single_point(size_t operands) { return {1, absl::InlinedVector<int64_t, 4>(operands, 0)}; }

bool is_strided(const Axis& axis, size_t operand) { return axis.strides[operand] != 0 && axis.strides[operand] != 1; }

int64_t largest_stride(const Axis& a) { return *std::max_element(a.strides.begin(), a.strides.end()); }

// A rank for the inner loop: the elements that are accessed contiguously along this axis. An operand with stride 0
// counts half, because it stays in a register. The output counts twice, because it is read and written.
double contiguity(const BoxShape& box, size_t axis) {
  double out = 0;
  for (size_t o = 0; o < box.operands(); ++o) {
    double volume = box.volume(o) * (o == 0 ? 2 : 1);
    if (box.axes[axis].strides[o] == 1) out += volume;
    if (box.axes[axis].strides[o] == 0) out += volume / 2;
  }
  return out;
}

size_t choose_x(const BoxShape& box) {
  size_t best = 0;
  for (size_t a = 1; a < box.axes.size(); ++a) {
    double better = contiguity(box, a) - contiguity(box, best);
    if (better > 0 || (better == 0 && box.axes[a].extent > box.axes[best].extent)) best = a;
  }
  return best;
}

// The other axis of the plane. First choice: operands that are strided along x are contiguous along it. Second choice:
// operands that move along x are reused along it. Otherwise the axis with the smallest strides.
size_t choose_y(const BoxShape& box, size_t x) {
  auto rank = [&](size_t a) {
    double contiguous = 0, reused = 0;
    for (size_t o = 0; o < box.operands(); ++o) {
      if (is_strided(box.axes[x], o) && box.axes[a].strides[o] == 1) contiguous += box.volume(o);
      if (box.has(x, o) && !box.has(a, o)) reused += box.volume(o);
    }
    return std::tuple(contiguous, reused, -largest_stride(box.axes[a]));
  };
  size_t best = box.axes.size();
  for (size_t a = 0; a < box.axes.size(); ++a) {
    if (a != x && (best == box.axes.size() || rank(a) > rank(best))) best = a;
  }
  return best;
}

Plane choose_plane(const BoxShape& box) {
  size_t operands = box.operands();
  Plane out{single_point(operands), single_point(operands), {}};
  if (box.axes.empty()) return out;
  size_t x = choose_x(box), y = choose_y(box, x);
  out.x = box.axes[x];
  if (y < box.axes.size()) out.y = box.axes[y];
  for (size_t a = 0; a < box.axes.size(); ++a) {
    if (a != x && a != y) out.outer.push_back(box.axes[a]);
  }
  return out;
}

class StreamedKernel : public BoxKernel {
 public:
  StreamedKernel(std::vector<LeafTerm> terms, ElementType type, bool accumulate)
      : terms_(std::move(terms)), type_(type), bytes_(size_of(type)), accumulate_(accumulate) {}

  bool takes(const BoxShape&) const override { return true; }
  std::string description() const override { return "generated"; }
  std::string explain(const BoxShape&, const std::vector<std::string>&) const override {
    return terms_.size() > 1 ? fmt::format("{} terms in one pass", terms_.size()) : "in one pass";
  }

  void prepare(const BoxShape& box) const override { code(likely_shape(box)); }
  std::string source(const BoxShape& box) const override { return plane_source(terms_, type_, likely_shape(box)); }

  void run(const Box& box, bool overwrite) const override {
    bool accumulate = accumulate_ && (!overwrite || box.has_sum());
    if (overwrite && accumulate) clear_output(box, bytes_);
    Plane plane = choose_plane(box);
    absl::InlinedVector<std::byte*, 4> data = box.data;
    int64_t rest = cut_long_row(plane, is_nontemporal(box, accumulate));
    PlaneFunction* function = code(shape_of(box, plane, accumulate));
    walk(plane, data, function);
    if (rest == 0) return;
    // The remainder, after the long row was cut into rows of equal length.
    Plane end = plane;
    for (size_t o = 0; o < data.size(); ++o) data[o] += plane.y.extent * plane.y.strides[o] * bytes_;
    end.x.extent = rest;
    end.y.extent = 1;
    walk(end, data, function);
  }

 private:
  PlaneShape likely_shape(const BoxShape& box) const {
    Plane plane = choose_plane(box);
    cut_long_row(plane, is_nontemporal(box, accumulate_));
    return shape_of(box, plane, accumulate_);
  }

  // Cuts a plane of one long row into several rows, which are several sums or several streams. Returns the length of
  // the remainder.
  int64_t cut_long_row(Plane& plane, bool nontemporal) const {
    bool sums = plane.x.strides[0] == 0;
    if (plane.y.extent > 1 || !(sums || nontemporal) || plane.x.extent < kLongRow) return 0;
    auto moving = std::count_if(plane.x.strides.begin() + 1, plane.x.strides.end(), [](int64_t s) { return s != 0; });
    int64_t rows = rows_at_once(sums, moving, false);
    if (rows == 1) return 0;
    int64_t length = row_length(plane.x.extent / rows);
    int64_t rest = plane.x.extent - length * rows;
    plane.y.extent = rows;
    for (size_t o = 0; o < plane.y.strides.size(); ++o) plane.y.strides[o] = length * plane.x.strides[o];
    plane.x.extent = length;
    return rest;
  }

  // The length of about `elements` for rows that run at once. Long rows get an odd number of pages, because streams at
  // power-of-two distances alias in the caches.
  int64_t row_length(int64_t elements) const {
    int64_t page = kPage / bytes_, pages = elements / page;
    return pages > kManyPages ? ((pages - 1) | 1) * page : elements;
  }

  bool is_nontemporal(const BoxShape& box, bool accumulate) const {
    double output = box.volume(0) * static_cast<double>(box.sharers);
    return !accumulate && output * static_cast<double>(bytes_) > kNontemporalBytes;
  }

  PlaneShape shape_of(const BoxShape& box, const Plane& plane, bool accumulate) const {
    PlaneShape out;
    for (size_t o = 0; o < box.operands(); ++o) {
      int64_t stride = plane.x.strides[o];
      out.x.push_back(stride == 0 ? StrideKind::Zero : stride == 1 ? StrideKind::Unit : StrideKind::Large);
      out.moves_along_y.push_back(plane.y.strides[o] != 0);
    }
    out.accumulate = accumulate;
    out.nontemporal = is_nontemporal(box, accumulate);
    return out;
  }

  int64_t chunk_of_x(const Plane& plane) const {
    for (size_t o = 0; o < plane.x.strides.size(); ++o) {
      if (plane.x.strides[o] != 0 && plane.y.strides[o] == 0 && plane.y.extent > 1) return kSharedBytes / bytes_;
    }
    return plane.x.extent;
  }

  void walk(const Plane& plane, const absl::InlinedVector<std::byte*, 4>& start, PlaneFunction* function) const {
    int64_t chunk = chunk_of_x(plane);
    for_each(plane.outer, start, bytes_, [&](const absl::InlinedVector<std::byte*, 4>& at) {
      absl::InlinedVector<void*, 4> data(at.begin(), at.end());
      for (int64_t x = 0; x < plane.x.extent; x += chunk) {
        function(std::min(chunk, plane.x.extent - x), plane.y.extent, data.data(), plane.x.strides.data(),
                 plane.y.strides.data());
        for (size_t o = 0; o < data.size(); ++o) {
          data[o] = static_cast<std::byte*>(data[o]) + chunk * plane.x.strides[o] * bytes_;
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
