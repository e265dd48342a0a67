#include "leaf/blocked.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>

#include "leaf/blocked_source.h"
#include "leaf/compile.h"
#include "leaf/product.h"
#include "support/checked.h"
#include "support/scratch.h"

namespace distal::core {

namespace {

int64_t extent_of(const BoxShape& box, const std::vector<size_t>& axes) {
  int64_t out = 1;
  for (size_t a : axes) out *= box.axes[a].extent;
  return out;
}

// Sorts axes by their stride in an operand, the smallest last: the last axis runs fastest.
void sort_by_stride(const BoxShape& box, size_t operand, std::vector<size_t>& axes) {
  std::sort(axes.begin(), axes.end(), [&](size_t a, size_t b) {
    return std::abs(box.axes[a].strides[operand]) > std::abs(box.axes[b].strides[operand]);
  });
}

bool is_contiguous(const BoxShape& box, size_t operand, const std::vector<size_t>& axes) {
  return axes.size() == 1 && box.axes[axes[0]].strides[operand] == 1;
}

bool has_unit_stride_axis(const BoxShape& box, size_t operand, const std::vector<size_t>& axes) {
  return std::any_of(axes.begin(), axes.end(), [&](size_t a) { return box.axes[a].strides[operand] == 1; });
}

// Sorts the axes by their roles in the matrix product of two operands. Its result has every axis that one of the two or
// another tensor has. Nothing if an axis is in neither operand, or if there are no rows, no columns or no sums.
std::optional<Blocking> blocking_by(const BoxShape& box, size_t left, size_t right) {
  Blocking out{{}, left, right};
  for (size_t a = 0; a < box.axes.size(); ++a) {
    bool in_left = box.has(a, left), in_right = box.has(a, right), in_result = in_left != in_right || !box.is_sum(a);
    for (size_t o = 1; o < box.operands(); ++o) in_result = in_result || (o != left && o != right && box.has(a, o));
    if (!in_left && !in_right) return std::nullopt;
    out.of(*role_of(in_result, in_left, in_right)).push_back(a);
  }
  if (!out.is_matrix_product()) return std::nullopt;
  sort_by_stride(box, 0, out.rows);
  sort_by_stride(box, 0, out.columns);
  sort_by_stride(box, left, out.sums);
  return out;
}

// Whether blocks of different rows, columns or batch add to the same element of the output.
bool blocks_overlap(const BoxShape& box, const Blocking& b) {
  auto is_sum = [&](size_t a) { return box.is_sum(a); };
  return std::any_of(b.rows.begin(), b.rows.end(), is_sum) || std::any_of(b.columns.begin(), b.columns.end(), is_sum) ||
         std::any_of(b.batch.begin(), b.batch.end(), is_sum);
}

// An estimate of the speed as a part of the peak: the part of the multiplications that are not padding, less the costs
// of packing and of writing the output.
double quality(const BoxShape& box, const Blocking& b, int64_t element_bytes) {
  int64_t lanes = kVectorBytes / element_bytes;
  int64_t rows = extent_of(box, b.rows), columns = extent_of(box, b.columns), sums = extent_of(box, b.sums);
  double used = static_cast<double>(columns) / static_cast<double>(ceil_div(columns, lanes) * lanes);
  used *= static_cast<double>(rows) / static_cast<double>(ceil_div(rows, kRowsPerBlock) * kRowsPerBlock);
  double packing = is_contiguous(box, b.left, b.sums)          ? 0
                   : has_unit_stride_axis(box, b.left, b.sums) ? 4.0 / static_cast<double>(columns)
                                                               : 16.0 / static_cast<double>(columns);
  packing += 4.0 / static_cast<double>(rows);
  double finishing = (has_unit_stride_axis(box, 0, b.columns) ? 4.0 : 32.0) / static_cast<double>(sums);
  return used / (1 + packing + finishing);
}

// The lowest quality for which blocks pay. Below it, too much time goes into memory accesses or padding.
constexpr double kLowestQuality = 0.2;
constexpr int64_t kFewestRows = 4, kFewestSums = 4;

// Whether the axis that runs fastest has stride 1.
bool has_unit_stride(const BoxShape& box, size_t operand, const std::vector<size_t>& axes) {
  return box.axes[axes.back()].strides[operand] == 1;
}

// The length of the contiguous runs of some axes in an operand: the extent of the axis that runs fastest. If that axis
// is shorter than `shortest` or has another stride than 1, runs do not pay, and all combinations of the axes count as
// one run.
int64_t run_length(const BoxShape& box, size_t operand, const std::vector<size_t>& axes, int64_t shortest) {
  int64_t fastest = box.axes[axes.back()].extent;
  return has_unit_stride(box, operand, axes) && fastest >= shortest ? fastest : extent_of(box, axes);
}

// The size of the chunks, at most `most`, to cut `all` into: chunks are about equal, and end where runs end.
int64_t chunk_size(int64_t most, int64_t all, int64_t run) {
  int64_t unit = run <= most ? run : 1, units = run <= most ? all / run : run;
  return ceil_div(units, ceil_div(units, most / unit)) * unit;
}

// The length of the chunk that begins at `first`. If runs are longer than chunks, no chunk crosses the end of a run.
int64_t chunk_length(int64_t first, int64_t size, int64_t all, int64_t run) {
  int64_t end = size < run ? (first / run + 1) * run : all;
  return std::min(size, end - first);
}

// The offsets of the combinations of some axes in an operand; the last axis runs fastest.
class Offsets {
 public:
  Offsets(const Box& box, const std::vector<size_t>& axes) : box_(box), axes_(axes) {}

  // Writes the offsets of `count` combinations from the `first` one on.
  void fill(size_t operand, int64_t first, int64_t count, int64_t* out) const {
    absl::InlinedVector<int64_t, 6> at(axes_.size());
    int64_t rest = first, offset = 0;
    for (size_t i = axes_.size(); i-- > 0;) {
      at[i] = rest % box_.axes[axes_[i]].extent;
      rest /= box_.axes[axes_[i]].extent;
      offset += at[i] * box_.axes[axes_[i]].strides[operand];
    }
    for (int64_t n = 0; n < count; ++n) {
      out[n] = offset;
      offset = next(operand, offset, at);
    }
  }

 private:
  int64_t next(size_t operand, int64_t offset, absl::InlinedVector<int64_t, 6>& at) const {
    for (size_t i = axes_.size(); i-- > 0;) {
      const Axis& a = box_.axes[axes_[i]];
      offset += a.strides[operand];
      if (++at[i] < a.extent) return offset;
      offset -= at[i] * a.strides[operand];
      at[i] = 0;
    }
    return offset;
  }

  const Box& box_;
  const std::vector<size_t>& axes_;
};

int64_t sum_of(std::span<const Box> boxes, const std::vector<size_t>& axes) {
  int64_t out = 0;
  for (const Box& box : boxes) out += extent_of(box, axes);
  return out;
}

// In bytes. The addresses may belong to different allocations, so they are compared as integers.
int64_t bytes_between(const std::byte* from, const std::byte* to) {
  return reinterpret_cast<intptr_t>(to) - reinterpret_cast<intptr_t>(from);
}

// Whether two boxes differ only in the extents of their sums and the addresses of the two multiplied operands.
bool differ_in_sum_only(const Box& box, const Box& next, const Blocking& blocking, int64_t element_bytes) {
  if (box.axes.size() != next.axes.size()) return false;
  for (size_t a = 0; a < box.axes.size(); ++a) {
    bool sum = std::find(blocking.sums.begin(), blocking.sums.end(), a) != blocking.sums.end();
    if (box.axes[a].strides != next.axes[a].strides || (!sum && box.axes[a].extent != next.axes[a].extent))
      return false;
  }
  for (size_t o = 0; o < box.data.size(); ++o) {
    int64_t distance = bytes_between(box.data[o], next.data[o]);
    if (o == blocking.left || o == blocking.right ? distance % element_bytes != 0 : distance != 0) return false;
  }
  return true;
}

// The buffers of one thread, all in its scratch memory: the packed operands and the offset tables. Each begins at a
// multiple of the vector size.
class BlockedBuffers {
 public:
  BlockedBuffers(size_t operands, int64_t sums, int64_t columns, int64_t run, int64_t element_bytes) {
    int64_t lanes = kVectorBytes / element_bytes, runs = ceil_div(columns, run);
    int64_t packed_right = sums * runs * ceil_div(std::min(run, columns), lanes) * lanes * element_bytes;
    int64_t packed_left = sums * kBlockedRowsAtOnce * element_bytes;
    // Offset tables: rows and columns of each operand, sums of two operands, and the runs of the sum.
    auto tables = 2 * static_cast<int64_t>(operands) + 3;
    int64_t offsets = static_cast<int64_t>(operands) * (columns + kBlockedRowsAtOnce) + 3 * sums + 1;
    at_ = scratch(static_cast<size_t>(packed_right + packed_left + offsets * 8 + (tables + 2) * kVectorBytes));
    packed_right_ = take(packed_right);
    packed_left_ = take(packed_left);
  }

  void* packed_right() const { return packed_right_; }
  void* packed_left() const { return packed_left_; }
  int64_t* offsets(int64_t n) { return reinterpret_cast<int64_t*>(take(n * 8)); }

 private:
  std::byte* take(int64_t bytes) {
    std::byte* out = at_;
    at_ += ceil_div(bytes, kVectorBytes) * kVectorBytes;
    return out;
  }

  std::byte *at_, *packed_right_ = nullptr, *packed_left_ = nullptr;
};

// The matrix multiply of joined boxes, cut into chunks of sums, columns and rows that fit the caches.
class BlockedMultiply {
 public:
  BlockedMultiply(std::span<const Box> boxes, const Blocking& blocking, int64_t element_bytes,
                  BlockedFunction* function, const void* scale)
      : boxes_(boxes),
        box_(boxes[0]),
        blocking_(blocking),
        bytes_(element_bytes),
        function_(function),
        all_rows_(extent_of(box_, blocking.rows)),
        all_columns_(extent_of(box_, blocking.columns)),
        all_sums_(sum_of(boxes, blocking.sums)),
        sum_run_(boxes.size() > 1 ? 1 : run_length(box_, blocking.left, blocking.sums, 1)),
        column_run_(run_length(box_, 0, blocking.columns, 2 * kVectorBytes / element_bytes)),
        sums_(chunk_size(kBlockedSums, all_sums_, sum_run_)),
        columns_(column_chunk()),
        buffers_(box_.data.size(), sums_, columns_, column_run_, element_bytes) {
    job_.scale = scale;
    job_.packed_right = buffers_.packed_right();
    job_.packed_left = buffers_.packed_left();
    job_.left_runs_contiguous = has_unit_stride(box_, blocking.left, blocking.sums);
    job_.right_runs_contiguous = is_contiguous(box_, blocking.right, blocking.sums);
    for (size_t o = 0; o < box_.data.size(); ++o) {
      rows_.push_back(o == blocking.right ? nullptr : buffers_.offsets(kBlockedRowsAtOnce));
      column_.push_back(o == blocking.left ? nullptr : buffers_.offsets(columns_));
    }
    left_sum_ = buffers_.offsets(sums_);
    right_sum_ = buffers_.offsets(sums_);
    run_begin_ = buffers_.offsets(sums_ + 1);
    for (size_t o = 1; o < box_.data.size(); ++o) {
      if (o == blocking.left || o == blocking.right) continue;
      factors_.push_back(o);
      factor_row_.push_back(rows_[o]);
      factor_column_.push_back(column_[o]);
    }
    job_.left_row = rows_[blocking.left];
    job_.left_sum = left_sum_;
    job_.right_sum = right_sum_;
    job_.run_begin = run_begin_;
    job_.right_column = column_[blocking.right];
    job_.output_row = rows_[0];
    job_.output_column = column_[0];
    job_.factor_row = factor_row_.data();
    job_.factor_column = factor_column_.data();
  }

  // Multiplies with the operands at these addresses.
  void run(const absl::InlinedVector<std::byte*, 4>& data, bool overwrite) {
    job_.left = data[blocking_.left];
    job_.right = data[blocking_.right];
    job_.output = data[0];
    absl::InlinedVector<const void*, 4> factors;
    for (size_t o : factors_) factors.push_back(data[o]);
    job_.factor = factors.data();
    for (int64_t k = 0; k < all_sums_; k += job_.sums) {
      job_.sums = chunk_length(k, sums_, all_sums_, sum_run_);
      job_.overwrite = overwrite && k == 0;
      set_sums(k);
      for (int64_t c = 0; c < all_columns_; c += job_.columns) multiply_columns(c);
    }
  }

 private:
  // A whole number of the widest panels, as many as fit in kPackedBytes.
  int64_t column_chunk() const {
    int64_t panel = 4 * kVectorBytes / bytes_;
    int64_t most = std::max<int64_t>(1, kPackedBytes / (sums_ * bytes_) / panel) * panel;
    return chunk_size(most, all_columns_, column_run_);
  }

  // Fills the tables of the sum for the chunk that begins at `first`. The sums of the boxes follow one another.
  void set_sums(int64_t first) {
    job_.runs = 0;
    int64_t begin = 0, end = 0;  // of the present box
    for (const Box& box : boxes_) {
      begin = std::exchange(end, end + extent_of(box, blocking_.sums));
      int64_t from = std::max(begin, first), to = std::min(end, first + job_.sums);
      if (from < to) add_sums(box, from - begin, to - begin, from - first);
    }
    const int64_t* end_of_left = left_sum_ + job_.sums;
    auto jumps = [](int64_t a, int64_t b) { return b != a + 1; };
    job_.left_contiguous = std::adjacent_find<const int64_t*>(left_sum_, end_of_left, jumps) == end_of_left;
  }

  // Adds the sum's terms `first` to `last` of one box to the tables, at position `at`.
  void add_sums(const Box& box, int64_t first, int64_t last, int64_t at) {
    fill_sums(box, blocking_.left, first, last, left_sum_ + at);
    fill_sums(box, blocking_.right, first, last, right_sum_ + at);
    int64_t run = job_.left_runs_contiguous ? box.axes[blocking_.sums.back()].extent : last;
    for (int64_t k = first; k < last;) {
      run_begin_[job_.runs++] = at + k - first;
      k = std::min(last, (k / run + 1) * run);
    }
    run_begin_[job_.runs] = at + last - first;
  }

  void fill_sums(const Box& box, size_t operand, int64_t first, int64_t last, int64_t* out) const {
    Offsets(box, blocking_.sums).fill(operand, first, last - first, out);
    int64_t distance = bytes_between(box_.data[operand], box.data[operand]) / bytes_;
    for (int64_t k = 0; k < last - first; ++k) out[k] += distance;
  }

  void multiply_columns(int64_t first) {
    job_.columns = chunk_length(first, columns_, all_columns_, column_run_);
    job_.column_run = std::min(column_run_, job_.columns);
    Offsets offsets(box_, blocking_.columns);
    for (size_t o = 0; o < column_.size(); ++o) {
      if (column_[o]) offsets.fill(o, first, job_.columns, column_[o]);
    }
    job_.pack_only = 1;
    function_(&job_);
    job_.pack_only = 0;
    for (int64_t r = 0; r < all_rows_; r += kBlockedRowsAtOnce) multiply_rows(r);
  }

  void multiply_rows(int64_t first) {
    job_.rows = std::min(kBlockedRowsAtOnce, all_rows_ - first);
    Offsets offsets(box_, blocking_.rows);
    for (size_t o = 0; o < rows_.size(); ++o) {
      if (rows_[o]) offsets.fill(o, first, job_.rows, rows_[o]);
    }
    function_(&job_);
  }

  std::span<const Box> boxes_;  // their sums are added one after the other
  const Box& box_;              // the first box
  const Blocking& blocking_;
  int64_t bytes_;
  BlockedFunction* function_;
  int64_t all_rows_, all_columns_, all_sums_;
  int64_t sum_run_, column_run_;  // lengths of contiguous runs
  int64_t sums_, columns_;        // sizes of the chunks
  BlockedBuffers buffers_;
  BlockedJob<void> job_{};
  absl::InlinedVector<int64_t*, 4> rows_, column_;  // by operand
  int64_t *left_sum_, *right_sum_, *run_begin_;
  absl::InlinedVector<size_t, 4> factors_;
  absl::InlinedVector<const int64_t*, 4> factor_row_, factor_column_;
};

template <class T>
class BlockedKernel : public BoxKernel {
 public:
  BlockedKernel(const Product& product, ElementType type)
      : type_(type), factors_(product.factors), scale_(scale_as<T>(product)) {}

  bool takes(const BoxShape& box) const override {
    std::optional<Blocking> blocking = best_blocking(box, sizeof(T));
    return blocking && pays(box, *blocking, sizeof(T));
  }

  void prepare(const BoxShape&) const override { code(); }
  std::string source(const BoxShape&) const override { return blocked_source(type_, factors_ - 2); }

  void run(const Box& box, bool overwrite) const override { run_joined({&box, 1}, overwrite); }

  // Boxes whose sums do not fit in one chunk gain nothing: there would be as many chunks as without joining.
  bool can_join(const Box& box, const Box& next) const override {
    std::optional<Blocking> blocking = best_blocking(box, sizeof(T));
    return blocking && differ_in_sum_only(box, next, *blocking, sizeof(T)) &&
           extent_of(box, blocking->sums) + extent_of(next, blocking->sums) <= kBlockedSums;
  }

  bool gains_from_joining(const BoxShape& box) const override {
    std::optional<Blocking> blocking = best_blocking(box, sizeof(T));
    return blocking && 2 * extent_of(box, blocking->sums) <= kBlockedSums;
  }

  void run_joined(std::span<const Box> boxes, bool overwrite) const override {
    const Box& box = boxes[0];
    std::optional<Blocking> blocking = best_blocking(box, sizeof(T), [&](const Blocking& found) {
      auto fits = [&](const Box& other) { return differ_in_sum_only(box, other, found, sizeof(T)); };
      return std::all_of(boxes.begin() + 1, boxes.end(), fits);
    });
    // Blocks can overwrite the output only if each element belongs to one block.
    bool in_block = overwrite && !blocks_overlap(box, *blocking);
    if (overwrite && !in_block) clear_output(box, sizeof(T));
    BlockedMultiply multiply(boxes, *blocking, sizeof(T), code().template function<BlockedFunction>(), &scale_);
    absl::InlinedVector<Axis, 6> batch;
    for (size_t a : blocking->batch) batch.push_back(box.axes[a]);
    for_each(batch, box.data, sizeof(T), [&](const auto& data) { multiply.run(data, in_block); });
  }

  std::string explain(const BoxShape& box, const std::vector<std::string>& operands) const override {
    std::optional<Blocking> blocking = best_blocking(box, sizeof(T));
    std::vector<std::string> factors;
    for (size_t o = 1; o < operands.size(); ++o) {
      if (o != blocking->left && o != blocking->right) factors.push_back(operands[o]);
    }
    std::string out =
        fmt::format("{} times {} in register blocks", operands[blocking->left], operands[blocking->right]);
    if (factors.empty()) return out;
    return fmt::format("{}, each block times {} as it is added, no temporary", out, fmt::join(factors, " * "));
  }

  std::string description() const override {
    return code().from_cache ? "register blocks (cached)" : "register blocks (compiled)";
  }

 private:
  const CompiledLeaf& code() const {
    std::call_once(once_, [&] { code_ = compile_leaf(source({})); });
    return code_;
  }

  ElementType type_;
  int factors_;
  T scale_;
  mutable std::once_flag once_;
  mutable CompiledLeaf code_;
};

}  // namespace

std::optional<Blocking> best_blocking(const BoxShape& box, int64_t element_bytes, const BlockingTest& suits) {
  std::optional<Blocking> best;
  double best_quality = 0;
  for (size_t left = 1; left < box.operands(); ++left) {
    for (size_t right = 1; right < box.operands(); ++right) {
      if (left == right) continue;
      std::optional<Blocking> found = blocking_by(box, left, right);
      double q = found ? quality(box, *found, element_bytes) : 0;
      if (q <= best_quality || (suits && !suits(*found))) continue;
      best_quality = q;
      best = std::move(found);
    }
  }
  return best;
}

bool pays(const BoxShape& box, const Blocking& blocking, int64_t element_bytes) {
  return extent_of(box, blocking.rows) >= kFewestRows && extent_of(box, blocking.sums) >= kFewestSums &&
         quality(box, blocking, element_bytes) >= kLowestQuality;
}

std::unique_ptr<BoxKernel> make_blocked_kernel(const LeafTerm& term, ElementType type) {
  std::optional<Product> product = product_of(term, type);
  if (!product || product->factors < 2) return nullptr;
  return with_element_type(type, [&](auto zero) -> std::unique_ptr<BoxKernel> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
      return std::make_unique<BlockedKernel<T>>(*product, type);
    } else {
      return nullptr;
    }
  });
}

}  // namespace distal::core
